/**
 * How the client library reaches a server: over a socket that the egress guard has vetted, also to servers of a cluster
 * that another has named, with TLS before any credential. The server speaks first, in the clear (`INFO`), and says
 * whether it wants TLS.
 */
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { ConnectionOptions, Server, ServerInfo } from '@nats-io/nats-core';
import { checkOptions, INFO, type ParserEvent, setTransportFactory, type Transport } from '@nats-io/nats-core/internal';
import { connectVetted, type EgressGuard, get, isObject, slicesInTurns, startTlsClient } from '../../../kit.ts';
import { ConnectionRefused } from '../publishing/kept-connection.ts';
import { LineLimit, MOST_LINE } from './line-limit.ts';

/** The options of a connection, among the library's own. */
export interface VettedOptions extends ConnectionOptions {
  readonly vetted: {
    readonly guard: EgressGuard;
    readonly timeoutMs: number;
    readonly secureContext: SecureContext | null;
    /** A credential would be sent as it is. */
    readonly needsTls: boolean;
    /** Bytes that may wait to be written. */
    readonly mostWaiting: number;
    /** Reports whether a caller waits for the server's event. */
    isAwaited(event: ParserEvent): boolean;
  };
}

const LINE_END = 0x0a;
const PONG = Buffer.from('PONG\r\n');

/** Once for a process: the library has one factory. */
export function useVettedTransport(): void {
  setTransportFactory({ factory: () => new VettedTransport() });
}

class VettedTransport implements Transport {
  readonly lang = 'nats.js';
  readonly version = '3.4.0';
  closeError?: Error;
  #socket: Socket | null = null;
  #encrypted = false;
  readonly #ended = new AbortController();
  readonly #closed = Promise.withResolvers<void>();
  #mostWaiting = 0;
  #lines = new LineLimit(() => false);
  #greeting: Buffer = Buffer.alloc(0);
  #pongWaits = false;
  #wake = () => {};

  get isClosed(): boolean {
    return this.#ended.signal.aborted;
  }

  isEncrypted(): boolean {
    return this.#encrypted;
  }

  closed(): Promise<void> {
    return this.#closed.promise;
  }

  async connect({ hostname, port, tlsName }: Server, options: ConnectionOptions): Promise<void> {
    const { guard, timeoutMs, secureContext, needsTls, mostWaiting, isAwaited } = vettedOf(options);
    this.#mostWaiting = mostWaiting;
    this.#lines = new LineLimit(isAwaited);
    const deadline = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#ended.signal]);
    const raw = await connectVetted(hostname, port, { guard, timeoutMs }, deadline);
    this.#socket = raw;
    const greeting = await firstLine(raw, deadline);
    const info = infoOf(greeting);
    checkOptions(info, options);
    const wantsTls = info.tls_required === true || info.tls_available === true || Boolean(options.tls);
    if (!wantsTls && needsTls) {
      throw new ConnectionRefused(
        'plaintext_refused: the server would get the password or token in the clear: use tls://, or allow_plaintext where the network is trusted',
      );
    }
    if (wantsTls) {
      const context = secureContext ? { context: secureContext } : {};
      this.#socket = await startTlsClient(raw, tlsName || hostname, deadline, context);
      this.#encrypted = true;
    }
    this.#greeting = greeting;
    this.#listen(this.#socket);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#checked(this.#greeting);
      for (;;) {
        const chunk: Buffer | null = this.#socket?.read() ?? null;
        if (chunk !== null) yield* this.#checked(chunk);
        else if (this.isClosed) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.#end();
    }
  }

  /** The library works each slice through before it takes the next. */
  async *#checked(chunk: Buffer): AsyncGenerator<Uint8Array> {
    for await (const slice of slicesInTurns(chunk)) {
      const fault = this.#lines.faultOf(slice);
      if (fault !== null) return this.#end(new Error(fault));
      yield slice;
    }
  }

  /** Sends the frames of a turn in one write: messages of many requests, and the ping behind them. */
  send(frame: Uint8Array): void {
    const socket = this.#socket;
    if (this.isClosed || socket === null) return;
    const isPong = PONG.equals(frame);
    // One that waits answers all pings before it.
    if (isPong && this.#pongWaits) return;
    if (socket.writableLength > this.#mostWaiting) return this.#end(new Error('the server does not read'));
    if (socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    this.#pongWaits ||= isPong;
    socket.write(frame, isPong ? this.#ponged : undefined);
  }

  readonly #ponged = (): void => {
    this.#pongWaits = false;
  };

  async close(error?: Error): Promise<void> {
    this.#end(error);
  }

  disconnect(): void {
    this.#end();
  }

  discard(): void {
    this.#end();
  }

  #listen(socket: Socket): void {
    let failure: Error | undefined;
    socket.on('readable', () => this.#wake());
    socket.on('error', (error) => {
      failure = error;
    });
    socket.on('close', () => this.#end(failure));
  }

  #end(error?: Error): void {
    if (this.isClosed) return;
    if (error) this.closeError = error;
    this.#ended.abort();
    this.#socket?.on('error', () => {}).destroy();
    this.#wake();
    this.#closed.resolve();
  }
}

function vettedOf(options: ConnectionOptions): VettedOptions['vetted'] {
  if (!isVetted(options)) throw new Error('a connection to NATS without an egress guard');
  return options.vetted;
}

function isVetted(options: ConnectionOptions): options is VettedOptions {
  return 'vetted' in options && isObject(options.vetted);
}

/** Returns the text up to the first line's end; unencrypted bytes behind it could come from an attacker. */
function firstLine(socket: Socket, deadline: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const end = (error: Error | null) => {
      socket.off('readable', read).off('error', end).off('close', closed);
      deadline.removeEventListener('abort', late);
      if (error === null) return resolve(received);
      socket.on('error', () => {}).destroy();
      reject(error);
    };
    const closed = () => end(new Error('the connection was closed before the server said INFO'));
    const late = () => end(new Error('the server said no INFO in time'));
    const read = () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      received = Buffer.concat([received, chunk]);
      const at = received.indexOf(LINE_END);
      if (at === received.length - 1) end(null);
      else if (at >= 0 || received.length > MOST_LINE) end(new Error('the server does not begin with INFO'));
    };
    socket.on('readable', read).once('error', end).once('close', closed);
    deadline.addEventListener('abort', late, { once: true });
    if (deadline.aborted) late();
  });
}

function infoOf(line: Buffer): ServerInfo {
  const [, json = ''] = INFO.exec(line.toString()) ?? [];
  const info: unknown = json === '' ? undefined : JSON.parse(json);
  if (!isServerInfo(info)) throw new Error('the server does not begin with INFO');
  return info;
}

function isServerInfo(value: unknown): value is ServerInfo {
  return isObject(value) && typeof get(value, 'max_payload') === 'number';
}
