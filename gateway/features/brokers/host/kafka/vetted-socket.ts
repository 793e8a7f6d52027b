/**
 * A socket for the client library, which wants one at once: it connects when the egress guard has vetted the address,
 * with TLS if need be, to the brokers of the config as well as to those that they name.
 */
import { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { connectVetted, type EgressGuard, startTlsClient } from '../../../kit.ts';
import { FrameLimit } from './frame-limit.ts';

export interface VettedSocketOptions {
  readonly guard: EgressGuard;
  readonly timeoutMs: number;
  /** Null: plaintext. */
  readonly secureContext: SecureContext | null;
}

export class VettedSocket extends Socket {
  readonly #opened: Promise<Socket>;
  readonly #ended = new AbortController();
  #inner: Socket | null = null;
  /** Requests that have been sent: each is one write. */
  #requests = 0;

  /** `connected` is called when it may be written to. */
  constructor(host: string, port: number, options: VettedSocketOptions, connected: () => void) {
    super();
    const { guard, timeoutMs, secureContext } = options;
    const deadline = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#ended.signal]);
    const secure = secureContext && ((raw: Socket) => startTlsClient(raw, host, deadline, { context: secureContext }));
    this.#opened = connectVetted(host, port, { guard, timeoutMs }, deadline, secure);
    this.#opened.then(
      (inner) => {
        if (this.destroyed) return void inner.destroy();
        this.#attach(inner);
        connected();
      },
      (error: Error) => this.destroy(error),
    );
  }

  override _read(): void {
    this.#inner?.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#requests++;
    this.#opened.then((inner) => inner.write(chunk, done), done);
  }

  /** Requests that waited for another one to be written: net.Socket would write them to a handle of its own. */
  override _writev(waiting: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#requests += waiting.length;
    const chunks = waiting.map(({ chunk }) => chunk);
    this.#opened.then((inner) => inner.write(Buffer.concat(chunks), done), done);
  }

  /** The library ends it when it has its answers, or no longer waits: a broker that hangs must not keep it. */
  override _final(done: (error?: Error | null) => void): void {
    done();
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#ended.abort();
    this.#inner?.destroy();
    done(error);
  }

  #attach(inner: Socket): void {
    this.#inner = inner;
    const frames = new FrameLimit();
    inner.on('data', (chunk: Buffer) => {
      if (!frames.admits(chunk)) return void this.destroy(new Error('an answer of the broker is too large'));
      if (frames.frames > this.#requests)
        return void this.destroy(new Error('the broker answers more than it is asked'));
      if (!this.push(chunk)) inner.pause();
    });
    inner.on('end', () => this.push(null));
    inner.on('error', (error) => this.destroy(error));
    inner.on('close', () => this.destroy());
  }
}
