/** One connection to a directory: through the egress guard to the vetted address, with TLS before anything secret. */
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Client, type Entry, ResultCodeError, type SearchOptions } from 'ldapts';
import { connectVetted, type EgressGuard, messageOf, startTlsClient } from '../../../kit.ts';
import type { DirectorySettings } from './directory-settings.ts';
import { startTls } from './start-tls.ts';

/** The directory cannot be asked, or does not answer: says nothing about the password. */
export class DirectoryUnavailable extends Error {
  /** The connection had been there before, and was lost without an answer: another one may get it. */
  readonly connectionLost: boolean;

  constructor(message: string, options: ErrorOptions & { readonly connectionLost?: boolean } = {}) {
    super(message, options);
    this.connectionLost = options.connectionLost ?? false;
  }
}

export interface ConnectionOptions {
  readonly guard: EgressGuard;
  /** For TLS with roots of one's own. */
  readonly secureContext?: SecureContext;
}

/** Bytes of the answers to one operation. */
const MOST_ANSWER = 8 << 20;
/**
 * Results of a bind that reject the credentials: invalidCredentials, inappropriateAuthentication (the entry has no
 * password), noSuchObject (it has just been deleted), and those for locked accounts: constraintViolation,
 * unwillingToPerform.
 */
const REJECTIONS = new Set([49, 48, 32, 19, 53]);

export class DirectoryConnection {
  readonly #client: Client;
  readonly #socket: Socket;
  #answered = 0;

  private constructor(socket: Socket, { timeoutMs }: DirectorySettings) {
    this.#socket = socket;
    let handed = false;
    this.#client = new Client({
      url: 'ldap://directory',
      timeout: timeoutMs,
      connectTimeout: timeoutMs,
      strictDN: false,
      createConnection() {
        // The client would connect again by itself, past the guard and without TLS.
        if (handed) throw new Error('the connection was closed');
        handed = true;
        return socket;
      },
    });
    // Replaced by the client's own listener.
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      this.#answered += chunk.length;
      if (this.#answered > MOST_ANSWER) socket.destroy(new Error('the answer is too long'));
    });
  }

  /** Rejects with DirectoryUnavailable. */
  static async open(settings: DirectorySettings, options: ConnectionOptions): Promise<DirectoryConnection> {
    const { host, port, secure, starttls, timeoutMs } = settings;
    let socket: Socket | null = null;
    try {
      socket = await connectVetted(host, port, { guard: options.guard, timeoutMs }, AbortSignal.timeout(timeoutMs));
      if (starttls) await startTls(socket, AbortSignal.timeout(timeoutMs));
      if (starttls || secure) {
        const tls = options.secureContext ? { context: options.secureContext } : {};
        socket = await startTlsClient(socket, host, AbortSignal.timeout(timeoutMs), tls);
      }
      return new DirectoryConnection(socket, settings);
    } catch (error) {
      socket?.on('error', () => {}).destroy();
      throw unavailable(error);
    }
  }

  /** Calls back when the connection becomes unusable; at once if it is so already. */
  onClose(listener: () => void): void {
    if (this.#socket.destroyed) listener();
    else this.#socket.once('close', listener);
  }

  /** Reports whether the directory accepts the password of this entry. Rejects with DirectoryUnavailable. */
  async bind(dn: string, password: string): Promise<boolean> {
    // An empty one of the two makes it anonymous, which succeeds (RFC 4513, section 5.1).
    if (dn === '' || password === '') throw new DirectoryUnavailable('a bind needs a name and a password');
    this.#answered = 0;
    try {
      await this.#client.bind(dn, password);
      return true;
    } catch (error) {
      if (error instanceof ResultCodeError && REJECTIONS.has(error.code)) return false;
      throw unavailable(error);
    }
  }

  /** Entries; referrals are not followed. Rejects with DirectoryUnavailable. */
  async search(base: string, options: SearchOptions): Promise<readonly Entry[]> {
    this.#answered = 0;
    try {
      const { searchEntries } = await this.#client.search(base, options);
      return searchEntries;
    } catch (error) {
      throw unavailable(error);
    }
  }

  close(): void {
    this.#client.unbind().catch(() => {});
    // A server that reads no more would keep the connection open.
    this.#socket.destroySoon();
  }
}

const LOST = /^(Connection closed before|Socket error|Socket connection not established|the connection was closed)/;

function unavailable(cause: unknown): DirectoryUnavailable {
  return new DirectoryUnavailable(reasonOf(cause), { cause, connectionLost: LOST.test(messageOf(cause)) });
}

/** Returns one line without the server's own text, which may hold anything: results have names. */
function reasonOf(error: unknown): string {
  if (error instanceof ResultCodeError) return `it answered with result ${error.code} (${error.name})`;
  const [line = ''] = messageOf(error).split('\n');
  return line.slice(0, 300);
}
