/** A batch that a topic has read, encoded once per format for any number of clients. */
import { eventOf, type Framing, gapOf } from './client-event.ts';
import type { MessageCheck } from './message-check.ts';
import type { Position } from './position.ts';
import type { MessageBatch, StreamMessage } from './topic-source.ts';

/** Some of the events of a batch, to be written together. */
export interface Frames {
  readonly bytes: Buffer;
  readonly messages: number;
}

/** An encoding of messages, shared by clients with the same options. */
export interface MessageForm {
  readonly framing: Framing;
  readonly withMetadata: boolean;
  /** Null if all messages are written. */
  readonly check: MessageCheck | null;
}

interface Written {
  /** Null for gaps, which concern every client. */
  readonly message: StreamMessage | null;
  readonly bytes: Buffer;
}

export class LiveBatch {
  readonly #batch: MessageBatch;
  readonly #before: Position | null;
  readonly #format: (position: Position) => string;
  readonly #dropped = new Map<MessageCheck, ReadonlySet<StreamMessage>>();
  readonly #made: { readonly form: MessageForm; readonly events: readonly Written[]; readonly whole: Frames }[] = [];

  /** `before`: the position of a client that has all earlier messages; null if the broker numbers none. */
  constructor(batch: MessageBatch, before: Position | null, format: (position: Position) => string) {
    this.#batch = batch;
    this.#before = before;
    this.#format = format;
  }

  /** Returns all frames, or those of a key. */
  frames(form: MessageForm, key: Buffer | null): Frames {
    const { events, whole } = this.#in(form);
    if (key === null) return whole;
    return together(events.filter(({ message }) => message === null || isOf(message, key)));
  }

  #in(form: MessageForm) {
    const known = this.#made.find((each) => isSame(each.form, form));
    if (known) return known;
    const events = this.#write(form);
    const made = { form, events, whole: together(events) };
    this.#made.push(made);
    return made;
  }

  /** However many forms its messages are written in, each is checked once. */
  #droppedBy(check: MessageCheck | null): ReadonlySet<StreamMessage> {
    if (check === null) return NONE;
    const dropped = this.#dropped.get(check) ?? check.dropped(this.#batch.messages);
    this.#dropped.set(check, dropped);
    return dropped;
  }

  /** The position moves on over messages that are not written. */
  #write({ framing, withMetadata, check }: MessageForm): readonly Written[] {
    const { messages, gaps } = this.#batch;
    const dropped = this.#droppedBy(check);
    const position = this.#before === null ? null : [...this.#before];
    for (const { partition = 0, to } of gaps) if (position !== null) position[partition] = to;
    const id = () => position && this.#format(position);
    const written = gaps.map((gap): Written => ({ message: null, bytes: framing.write(gapOf(gap), id()) }));
    for (const message of messages) {
      if (position !== null) position[message.partition] = message.offset + 1;
      if (dropped.has(message)) continue;
      written.push({ message, bytes: framing.write(eventOf(message, withMetadata), id()) });
    }
    return written;
  }
}

const NONE: ReadonlySet<StreamMessage> = new Set();

function isSame(a: MessageForm, b: MessageForm): boolean {
  return a.framing === b.framing && a.withMetadata === b.withMetadata && a.check === b.check;
}

function together(written: readonly Written[]): Frames {
  const messages = written.reduce((sum, { message }) => sum + (message === null ? 0 : 1), 0);
  return { bytes: Buffer.concat(written.map(({ bytes }) => bytes)), messages };
}

function isOf({ key }: StreamMessage, wanted: Buffer): boolean {
  return key?.equals(wanted) === true;
}
