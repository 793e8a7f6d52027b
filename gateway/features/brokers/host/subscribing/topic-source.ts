/** The topic of a broker: reading messages as they come, and earlier ones. */
import type { Position } from './position.ts';

export interface StreamMessage {
  readonly partition: number;
  readonly offset: number;
  /** Null if the message has no key. */
  readonly key: Buffer | null;
  /** Null: the message says that its key has been deleted. */
  readonly payload: Buffer | null;
  /** Members for clients that ask for more than the payload. */
  metadata(): Readonly<Record<string, unknown>>;
}

/** Messages that the broker no longer has, or never had: offsets `from` up to, but not including, `to`. */
export interface Gap {
  /** Absent for topics without partitions. */
  readonly partition?: number;
  readonly from: number;
  readonly to: number;
}

/** Messages that were read at once. */
export interface MessageBatch {
  readonly messages: readonly StreamMessage[];
  /** Position behind them; null if the broker numbers no messages. */
  readonly position: Position | null;
  /** Stand before the messages. */
  readonly gaps: readonly Gap[];
}

/** Reads on, once it is started, until it is closed or lost. */
export interface LiveReader {
  /** Position at which it begins. */
  readonly position: Position | null;
  /** Between there and the position that was asked for. */
  readonly gaps: readonly Gap[];
  start(deliver: (batch: MessageBatch) => void): void;
  /** Settles when the reader has ended; rejects if it was lost. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Reads earlier messages, for clients that resume. */
export interface Backlog {
  /** The position of the oldest message that is there. */
  earliest(): Promise<Position>;
  /** Returns the position, moved past messages that are gone, or never existed. */
  clamp(position: Position): Promise<Pick<MessageBatch, 'gaps'> & { readonly position: Position }>;
  /** Returns some of the messages from one position on and before the other; rejects if the first is gone. */
  read(from: Position, until: Position): Promise<MessageBatch & { readonly position: Position }>;
  close(): void;
}

export interface TopicSource {
  /** `scheme://host:port` of the brokers, and the topic; for messages. */
  readonly name: string;
  /** Reads from the position on; null: only new messages. Rejects if no broker permits it. */
  open(position: Position | null): Promise<LiveReader>;
  backlog(): Backlog;
  /** As an `id` of events. */
  format(position: Position): string;
  /** Returns null if `format` does not produce this text. */
  parse(text: string): Position | null;
  close(): void;
}
