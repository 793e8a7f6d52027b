/**
 * Fetches the file of a notice by HTTP: in parts if a connection breaks, and only within its announced size and place.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { MAX_ARCHIVE_BYTES } from '../artifact/source.ts';
import { ByteCollector } from '../streams/byte-collector.ts';
import { messageOf } from '../text/message-of.ts';
import { Agent, request } from '../undici.ts';
import { VERSION } from '../version.ts';
import { artifactUrl, LinkAddressError } from './address.ts';
import { type CredentialSource, type Credentials, readCredentials } from './credentials.ts';
import type { Notice } from './messages.ts';
import { UpdateError } from './update-error.ts';

const CONNECT_MS = 10_000;
/** Without a byte of head or body. */
const SILENCE_MS = 30_000;

export interface DownloadOptions {
  /** As in `ControlPlaneAddress`. */
  readonly base: URL;
  readonly credentials: CredentialSource;
}

/**
 * Downloads one file, in as many tries as it takes: each resumes where the last one broke off. Received bytes are kept
 * in memory, at most the size in the notice, itself at most 256 MiB.
 */
export class Download {
  readonly #notice: Notice;
  readonly #options: DownloadOptions;
  readonly #collected = new ByteCollector();
  /** Strong ETag of the received part; null: the next try begins anew. */
  #etag: string | null = null;

  /** Throws UpdateError if the notice is of a file that is not fetched. */
  constructor(notice: Notice, options: DownloadOptions) {
    if (notice.size > MAX_ARCHIVE_BYTES) {
      throw new UpdateError('too-large', `the artifact has ${notice.size} bytes, more than ${MAX_ARCHIVE_BYTES}`);
    }
    this.#notice = notice;
    this.#options = options;
  }

  /**
   * Resolves with the file, which has the size and sha256 of the notice. Rejects with UpdateError: `download-failed` if
   * another try may succeed, `checksum` if the file is another one (the next try begins anew). Or with the reason of an
   * abort.
   */
  async attempt(signal: AbortSignal): Promise<Uint8Array> {
    const credentials = await this.#credentials();
    const agent = new Agent({
      connect: { timeout: CONNECT_MS, ...(credentials.ca === undefined ? {} : { ca: credentials.ca }) },
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
      pipelining: 0,
    });
    try {
      const body = await this.#open(agent, credentials, signal);
      for await (const chunk of body) this.#take(chunk);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UpdateError) throw error;
      if (error instanceof LinkAddressError) throw new UpdateError('download-failed', error.message);
      throw failed(`it broke off after ${this.#collected.length} bytes: ${messageOf(error)}`);
    } finally {
      await agent.destroy();
    }
    return this.#whole();
  }

  async #credentials(): Promise<Credentials> {
    try {
      return await readCredentials(this.#options.credentials);
    } catch (error) {
      throw failed(messageOf(error));
    }
  }

  /** Asks for the missing part, and determines the position at which the answer continues. */
  async #open(
    dispatcher: Dispatcher,
    { apiKey }: Credentials,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData['body']> {
    const { base } = this.#options;
    const etag = this.#etag;
    const from = etag === null ? 0 : this.#collected.length;
    const { statusCode, headers, body } = await request(artifactUrl(base, this.#notice.path), {
      dispatcher,
      signal,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'user-agent': `gw/${VERSION}`,
        'accept-encoding': 'identity',
        ...(from > 0 && etag !== null ? { range: `bytes=${from}-`, 'if-range': etag } : {}),
      },
    });
    const goesOn = statusCode === 206 && from > 0 && textOf(headers, 'content-range').startsWith(`bytes ${from}-`);
    if (!goesOn) this.#forget();
    if (statusCode !== 200 && !goesOn) {
      body.on('error', () => {});
      body.destroy();
      throw failed(`the control plane answered with ${statusCode}${hint(statusCode)}`);
    }
    this.#etag = strong(textOf(headers, 'etag'));
    const length = textOf(headers, 'content-length');
    if (length !== '' && Number(length) !== this.#notice.size - this.#collected.length) {
      body.on('error', () => {});
      body.destroy();
      throw this.#another(
        `the control plane sends ${length} bytes where ${this.#notice.size - this.#collected.length} are expected`,
      );
    }
    return body;
  }

  #take(chunk: Uint8Array): void {
    if (this.#collected.length + chunk.length > this.#notice.size)
      throw this.#another(`the file has more than ${this.#notice.size} bytes`);
    this.#collected.add(chunk);
  }

  #whole(): Uint8Array {
    const { size, sha256 } = this.#notice;
    if (this.#collected.length < size) throw failed(`it ended after ${this.#collected.length} of ${size} bytes`);
    const file = this.#collected.takeWhole();
    const found = `sha256:${createHash('sha256').update(file).digest('hex')}`;
    if (found !== sha256) throw this.#another(`the file's sha256 is ${found}, the control plane said ${sha256}`);
    return file;
  }

  /** The file is not that of the notice: all of it is dropped. */
  #another(message: string): UpdateError {
    this.#forget();
    return new UpdateError('checksum', message);
  }

  #forget(): void {
    this.#collected.take();
    this.#etag = null;
  }
}

function failed(why: string): UpdateError {
  return new UpdateError('download-failed', `the artifact was not fetched: ${why}`);
}

function textOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** Weak ones name no bytes (RFC 9110, section 13.1.5). */
function strong(etag: string): string | null {
  return etag.startsWith('"') ? etag : null;
}

function hint(status: number): string {
  if (status === 401 || status === 403) return ': the API key does not open this artifact';
  if (status === 404 || status === 410) return ': it no longer has this artifact';
  return status >= 300 && status < 400 ? ': redirects are not followed' : '';
}
