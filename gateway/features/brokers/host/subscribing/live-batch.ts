/** A batch that a topic has read, encoded once per format and key for any number of clients. */
import { eventOf, type Framing, gapOf } from './client-event.ts';
import { Frames } from './frames.ts';
import type { MessageCheck } from './message-check.ts';
import type { Position } from './position.ts';
import type { MessageBatch, StreamMessage } from './topic-source.ts';

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

/** The batch in one form. */
class EncodedBatch {
  readonly form: MessageForm;
  readonly #events: readonly Written[];
  #whole: Frames | null = null;
  /** Events by the key of their messages. */
  #byKey: ReadonlyMap<string, readonly Written[]> | null = null;
  readonly #frames = new Map<string, Frames>();

  constructor(form: MessageForm, events: readonly Written[]) {
    this.form = form;
    this.#events = events;
  }

  get whole(): Frames {
    this.#whole ??= together(this.#events);
    return this.#whole;
  }

  of(key: Buffer): Frames {
    const name = nameOf(key);
    const known = this.#frames.get(name);
    if (known !== undefined) return known;
    this.#byKey ??= byKey(this.#events);
    const forAll = this.#events.filter(({ message }) => message === null);
    const frames = together([...forAll, ...(this.#byKey.get(name) ?? [])]);
    this.#frames.set(name, frames);
    return frames;
  }
}

export class LiveBatch {
  readonly #batch: MessageBatch;
  readonly #before: Position | null;
  readonly #format: (position: Position) => string;
  readonly #dropped = new Map<MessageCheck, ReadonlySet<StreamMessage>>();
  readonly #encoded: EncodedBatch[] = [];

  /** `before`: the position of a client that has all earlier messages; null if the broker numbers none. */
  constructor(batch: MessageBatch, before: Position | null, format: (position: Position) => string) {
    this.#batch = batch;
    this.#before = before;
    this.#format = format;
  }

  /** Returns all frames, or those of a key: the same ones each time. */
  frames(form: MessageForm, key: Buffer | null): Frames {
    const encoded = this.#in(form);
    return key === null ? encoded.whole : encoded.of(key);
  }

  #in(form: MessageForm): EncodedBatch {
    const known = this.#encoded.find((each) => isSame(each.form, form));
    if (known) return known;
    const encoded = new EncodedBatch(form, this.#write(form));
    this.#encoded.push(encoded);
    return encoded;
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

function byKey(events: readonly Written[]): ReadonlyMap<string, readonly Written[]> {
  const groups = new Map<string, Written[]>();
  for (const event of events) {
    const key = event.message?.key ?? null;
    if (key === null) continue;
    const group = groups.get(nameOf(key));
    if (group) group.push(event);
    else groups.set(nameOf(key), [event]);
  }
  return groups;
}

function nameOf(key: Buffer): string {
  return key.toString('latin1');
}

/** Bytes up to which a Buffer may share its memory with others, which it would keep. */
const MAY_SHARE = 64 << 10;

function together(written: readonly Written[]): Frames {
  const messages = written.reduce((sum, { message }) => sum + (message === null ? 0 : 1), 0);
  const [first] = written;
  if (written.length === 1 && first !== undefined && first.bytes.length > MAY_SHARE) {
    return new Frames(first.bytes, messages);
  }
  const bytes = Buffer.allocUnsafeSlow(written.reduce((sum, each) => sum + each.bytes.length, 0));
  let at = 0;
  for (const each of written) at += each.bytes.copy(bytes, at);
  return new Frames(bytes, messages);
}
