/**
 * Gives a client the messages that it missed, from a reader of its own, until it meets the shared one. Far behind, it
 * reads up to the shared reader's current position, at the client's pace; near, new messages are kept for the client
 * while it reads the rest, so that no message is lost between the two, or comes twice.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { OwnerPath } from '../../../kit.ts';
import { gapOf } from './client-event.ts';
import { Frames } from './frames.ts';
import { LiveBatch, type MessageForm } from './live-batch.ts';
import type { Outbox } from './outbox.ts';
import { distance, isAhead, isBehind, type Position } from './position.ts';
import type { LiveClient, Topic } from './topic.ts';
import type { Backlog } from './topic-source.ts';

/** Distance in messages within which new messages are kept meanwhile. */
const NEAR = 1_000;
/** Milliseconds between attempts if the broker does not answer, or has no messages yet. */
const PAUSE_MS = 500;
const NOTHING_YET_MS = 20;

export interface CatchUpOptions {
  readonly topic: Topic;
  readonly client: LiveClient;
  readonly outbox: Outbox;
  readonly key: Buffer | null;
  readonly form: MessageForm;
  /** The client takes turns with others. */
  readonly owner: OwnerPath;
  /** Ends it. */
  readonly signal: AbortSignal;
}

export class CatchUp {
  readonly #options: CatchUpOptions;
  readonly #backlog: Backlog;
  #position: Position = [];
  #overrun = false;

  constructor(options: CatchUpOptions) {
    this.#options = options;
    this.#backlog = options.topic.source.backlog();
  }

  /** More messages have come than may be kept: the client reads all of them again. */
  overran(): void {
    this.#overrun = true;
    this.#options.topic.leave(this.#options.client);
    this.#options.outbox.forget();
  }

  /** Resolves when the client gets new messages, or has left. */
  async run(from: Position | 'earliest'): Promise<void> {
    try {
      await this.#begin(from);
      while (!this.#ended && !(await this.#meets()));
    } finally {
      this.#backlog.close();
    }
  }

  get #ended(): boolean {
    return this.#options.signal.aborted;
  }

  async #begin(from: Position | 'earliest'): Promise<void> {
    if (from !== 'earliest') return this.#clamp(from);
    const earliest = await this.#answer(() => this.#backlog.earliest());
    if (earliest !== null) this.#position = earliest;
  }

  /** Returns true if the client has the same messages as the shared reader, and gets those that it reads. */
  async #meets(): Promise<boolean> {
    const { topic, client, outbox } = this.#options;
    const live = topic.position;
    if (live === null || isAhead(this.#position, live)) {
      await topic.moved();
      return false;
    }
    if (distance(this.#position, live) > NEAR) {
      await this.#readTo(live);
      return false;
    }
    this.#overrun = false;
    outbox.hold();
    topic.join(client);
    await this.#readTo(live);
    if (this.#ended) return true;
    if (this.#overrun) return false;
    outbox.release();
    return true;
  }

  async #readTo(target: Position): Promise<void> {
    const { outbox } = this.#options;
    while (isBehind(this.#position, target) && !this.#ended && !this.#overrun) {
      const before = this.#position;
      try {
        const frames = await this.#readFrom(before, target);
        if (frames.bytes.length > 0) await outbox.write(frames);
        if (!isBehind(before, this.#position)) await this.#pause(NOTHING_YET_MS);
      } catch {
        await this.#pause(PAUSE_MS);
        await this.#clamp(before);
      }
    }
  }

  /** Apart from the wait for the client, during which only the frames stay in memory. */
  async #readFrom(before: Position, target: Position): Promise<Frames> {
    const { topic, owner, form, key } = this.#options;
    const batch = await topic.turns.run(owner, () => this.#backlog.read(before, target));
    this.#position = batch.position;
    return new LiveBatch(batch, before, (position) => topic.source.format(position)).frames(form, key);
  }

  /** Reports the messages that are gone, and goes on behind them. */
  async #clamp(position: Position): Promise<void> {
    const clamped = await this.#answer(() => this.#backlog.clamp(position));
    if (clamped === null) return;
    this.#position = clamped.position;
    const id = this.#options.topic.source.format(clamped.position);
    const { form, outbox } = this.#options;
    const told = clamped.gaps.map((gap) => form.framing.write(gapOf(gap), id));
    if (told.length > 0) await outbox.write(new Frames(Buffer.concat(told), 0));
  }

  /** As often as it takes; null if the client has left meanwhile. */
  async #answer<T>(ask: () => Promise<T>): Promise<T | null> {
    while (!this.#ended) {
      try {
        return await this.#options.topic.turns.run(this.#options.owner, ask);
      } catch {
        await this.#pause(PAUSE_MS);
      }
    }
    return null;
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#options.signal }).catch(() => {});
  }
}
