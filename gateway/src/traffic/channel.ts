/**
 * Calls in both directions between a process and its worker, over the channel that Node.js opens between them. The
 * calls of one turn of the event loop go as one message: under load that makes a shared rate limit cost a few
 * microseconds instead of some twenty.
 */

import type { Duplex } from 'node:stream';
import { Slots } from '../memory/slots.ts';
import { atEndOfTick } from '../scheduling/end-of-tick.ts';
import { messageOf } from '../text/message-of.ts';

/** Methods that one side answers; each takes at most one argument. */
// biome-ignore lint/suspicious/noExplicitAny: a method's argument is contravariant, and only its own type fits
export type Methods<T> = { readonly [K in keyof T]: (argument: any) => unknown };

export interface ChannelPort {
  send(message: unknown): void;
  /** Called once. */
  receive(listener: (message: unknown) => void): void;
}

type Frame =
  | readonly ['call', id: number, method: string, argument: unknown]
  | readonly ['done', id: number, result: unknown]
  | readonly ['failed', id: number, name: string, message: string];

/** An error that the other side threw; `name` is that of its class. */
export class RemoteError extends Error {
  override readonly name: string;
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** Waits for the answer of one call. */
interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** `Remote`: methods of the other side; `Local`: methods of this side. */
export class Channel<Remote extends Methods<Remote>, Local extends Methods<Local>> {
  readonly #port: ChannelPort;
  readonly #methods: Local;
  /** The id of a call is its slot: each call gets one answer, which ends it. */
  readonly #pending = new Slots<Pending>();
  #queue: Frame[] = [];
  #closed = false;

  constructor(port: ChannelPort, methods: Local) {
    this.#port = port;
    this.#methods = methods;
    port.receive((message) => {
      for (const frame of message as readonly Frame[]) this.#receive(frame);
    });
  }

  /** Rejects with RemoteError, also if the other side ends. */
  call<K extends keyof Remote & string>(
    method: K,
    ...[argument]: Parameters<Remote[K]>
  ): Promise<Awaited<ReturnType<Remote[K]>>> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new RemoteError('Error', 'the other process has ended'));
      const id = this.#pending.add({ resolve: resolve as Pending['resolve'], reject });
      this.#say(['call', id, method, argument]);
    });
  }

  /** The other side has ended: rejects pending calls. */
  close(): void {
    this.#closed = true;
    for (const { reject } of this.#pending) reject(new RemoteError('Error', 'the other process has ended'));
  }

  /** Sends messages that waited for the end of the turn. */
  #flush(): void {
    const frames = this.#queue;
    this.#queue = [];
    if (frames.length > 0 && !this.#closed) this.#port.send(frames);
  }

  #say(frame: Frame): void {
    if (this.#queue.push(frame) === 1) atEndOfTick(() => this.#flush());
  }

  #receive(frame: Frame): void {
    const [kind, id] = frame;
    if (kind === 'call') return this.#answer(id, frame[2], frame[3]);
    const pending = this.#pending.at(id);
    // Calls that the end of the other side has rejected may have answers on their way.
    if (pending === null || this.#closed) return;
    this.#pending.remove(id, pending);
    if (kind === 'done') pending.resolve(frame[2]);
    else pending.reject(new RemoteError(frame[2], frame[3]));
  }

  #answer(id: number, method: string, argument: unknown): void {
    const failed = (error: unknown): void => {
      this.#say(['failed', id, error instanceof Error ? error.constructor.name : 'Error', messageOf(error)]);
    };
    try {
      const result = this.#methods[method as keyof Local](argument);
      if (!(result instanceof Promise)) return this.#say(['done', id, result]);
      result.then((value) => this.#say(['done', id, value]), failed);
    } catch (error) {
      failed(error);
    }
  }
}

/**
 * Messages as lines of JSON over a stream. For calls during a request: a message of Node.js's own channel costs several
 * times as much.
 */
export function linePort(stream: Duplex): ChannelPort {
  // The other side has ended; the watcher of its process reports that.
  stream.on('error', () => {});
  return {
    send: (message) => void stream.write(`${JSON.stringify(message)}\n`),
    receive(listener) {
      let rest = '';
      stream.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) listener(JSON.parse(line));
      });
    },
  };
}
