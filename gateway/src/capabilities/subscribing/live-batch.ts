/** What a topic has read at once, written for clients once for each way of writing, however many get it. */
import type { Position } from './position.ts';
import { eventOf, gapOf } from './sse.ts';
import type { MessageBatch, StreamMessage } from './topic-source.ts';

/** Some of the events of a batch, to be written together. */
export interface Frames {
  readonly bytes: Buffer;
  readonly messages: number;
}

interface Written {
  /** Null of gaps, which concern everyone. */
  readonly message: StreamMessage | null;
  readonly bytes: Buffer;
}

export class LiveBatch {
  readonly #batch: MessageBatch;
  readonly #before: Position | null;
  readonly #format: (position: Position) => string;
  readonly #written = new Map<boolean, readonly Written[]>();
  readonly #whole = new Map<boolean, Frames>();

  /** `before`: the position of whoever has all that came before; null where there are none. */
  constructor(batch: MessageBatch, before: Position | null, format: (position: Position) => string) {
    this.#batch = batch;
    this.#before = before;
    this.#format = format;
  }

  /** All of it, or those of a key. */
  frames(withMetadata: boolean, key: Buffer | null): Frames {
    if (key === null) return this.#all(withMetadata);
    const fitting = this.#events(withMetadata).filter(({ message }) => message === null || isOf(message, key));
    return together(fitting);
  }

  #all(withMetadata: boolean): Frames {
    const known = this.#whole.get(withMetadata);
    if (known) return known;
    const frames = together(this.#events(withMetadata));
    this.#whole.set(withMetadata, frames);
    return frames;
  }

  #events(withMetadata: boolean): readonly Written[] {
    const known = this.#written.get(withMetadata);
    if (known) return known;
    const { messages, gaps } = this.#batch;
    const position = this.#before === null ? null : [...this.#before];
    for (const { partition = 0, to } of gaps) if (position !== null) position[partition] = to;
    const id = () => position && this.#format(position);
    const written = gaps.map((gap): Written => ({ message: null, bytes: Buffer.from(gapOf(gap, id())) }));
    for (const message of messages) {
      if (position !== null) position[message.partition] = message.offset + 1;
      written.push({ message, bytes: Buffer.from(eventOf(message, id(), withMetadata)) });
    }
    this.#written.set(withMetadata, written);
    return written;
  }
}

function together(written: readonly Written[]): Frames {
  const messages = written.reduce((sum, { message }) => sum + (message === null ? 0 : 1), 0);
  return { bytes: Buffer.concat(written.map(({ bytes }) => bytes)), messages };
}

function isOf({ key }: StreamMessage, wanted: Buffer): boolean {
  return key?.equals(wanted) === true;
}
