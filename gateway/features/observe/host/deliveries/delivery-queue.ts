/**
 * The queue of deliveries to one target, in order, sent in batches. It is bounded, by itself and by its share of the
 * process's memory: an item without room is dropped and counted, and never delays a request.
 */

import type { Share } from '../../../kit.ts';
import type { Delivered, PluginDeliveries } from './figures.ts';
import { Room } from './room.ts';

export interface QueueSettings {
  /**
   * Most entries of a batch, which is sent once it has so many entries or bytes, or its first entry has waited as long.
   */
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly maxDelayMs: number;
  /** Bytes that wait or are being sent. */
  readonly maxQueueBytes: number;
  /** Batches that are sent at once. */
  readonly parallel: number;
}

export interface QueueServices<T> {
  readonly share: Share;
  readonly figures: PluginDeliveries;
  /** Sends a batch; never rejects. `signal`: the gateway ends, and it is to be given up. */
  deliver(batch: readonly T[], signal: AbortSignal): Promise<Delivered>;
  /** Entries are dropped; once until the queue is empty again. */
  overflows(): void;
  /** The queue was closed, and is empty. */
  ended(): void;
  /** A request that outlives its artifact adds an entry after that. */
  resumed(): void;
}

interface Entry<T> {
  readonly item: T;
  readonly room: Room;
}

export class DeliveryQueue<T> {
  readonly #settings: QueueSettings;
  readonly #services: QueueServices<T>;
  readonly #givenUp = new AbortController();
  #waiting: Entry<T>[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  #sending = 0;
  /** Runs until the first waiting item has waited long enough; it has if `#isLate`. */
  #timer: NodeJS.Timeout | null = null;
  #isLate = false;
  #isClosed = false;
  #overflows = false;

  constructor(settings: QueueSettings, services: QueueServices<T>) {
    this.#settings = settings;
    this.#services = services;
  }

  /** Returns false if the item is dropped. */
  add(item: T, bytes: number): boolean {
    const room = this.room();
    if (!room.take(bytes)) {
      this.overflow();
      return false;
    }
    this.addHeld(item, room);
    return true;
  }

  /** For an entry that grows as it comes; to be released, or given to `addHeld`. */
  room(): Room {
    return new Room((bytes) => this.#take(bytes));
  }

  /** An entry that has its room. */
  addHeld(item: T, room: Room): void {
    this.#services.figures.queued++;
    this.#waiting.push({ item, room });
    this.#waitingBytes += room.bytes;
    if (this.#isClosed) this.#services.resumed();
    this.#sendDue();
  }

  /** Counts an entry that found no room. */
  overflow(): void {
    this.drop();
    if (this.#overflows) return;
    this.#overflows = true;
    this.#services.overflows();
  }

  /** Counts an entry that is not added, for a reason of its own. */
  drop(): void {
    this.#services.figures.outcomes.dropped++;
  }

  /** Sends waiting items without delay. Requests that have not ended may still add to them. */
  close(): void {
    this.#isClosed = true;
    this.#sendDue();
    this.#endWhenIdle();
  }

  /** Drops waiting items, and gives up those being sent. */
  giveUp(): void {
    this.#givenUp.abort();
    const waiting = this.#waiting;
    this.#takeFirst(waiting.length);
    this.#settle(waiting, 'dropped');
    this.#endWhenIdle();
  }

  /** Reserves so many bytes. Returns the function that releases them; null if there is no room. */
  #take(bytes: number): (() => void) | null {
    const { share, figures } = this.#services;
    if (this.#givenUp.signal.aborted || this.#bytes + bytes > this.#settings.maxQueueBytes) return null;
    const giveBack = share.take(bytes);
    if (giveBack === null) return null;
    this.#bytes += bytes;
    figures.queuedBytes += bytes;
    return () => {
      giveBack();
      this.#bytes -= bytes;
      figures.queuedBytes -= bytes;
    };
  }

  #sendDue(): void {
    while (this.#sending < this.#settings.parallel && this.#isDue()) {
      this.#sending++;
      void this.#send(this.#takeFirst(this.#batchLength()));
    }
    if (this.#waiting.length > 0 && !this.#isLate) {
      this.#timer ??= setTimeout(() => this.#late(), this.#settings.maxDelayMs).unref();
    }
  }

  #late(): void {
    this.#timer = null;
    this.#isLate = true;
    this.#sendDue();
  }

  #isDue(): boolean {
    const { maxEntries, maxBytes, maxDelayMs } = this.#settings;
    if (this.#waiting.length === 0) return false;
    if (this.#isClosed || this.#isLate || maxDelayMs === 0) return true;
    return this.#waiting.length >= maxEntries || this.#waitingBytes >= maxBytes;
  }

  /** Entries at the front that make one batch: one at least, however long it is. */
  #batchLength(): number {
    const { maxEntries, maxBytes } = this.#settings;
    let bytes = this.#waiting[0]?.room.bytes ?? 0;
    let length = 1;
    while (length < Math.min(this.#waiting.length, maxEntries)) {
      bytes += this.#waiting[length]?.room.bytes ?? 0;
      if (bytes > maxBytes) break;
      length++;
    }
    return length;
  }

  #takeFirst(length: number): readonly Entry<T>[] {
    const taken = this.#waiting.slice(0, length);
    this.#waiting = this.#waiting.slice(length);
    for (const { room } of taken) this.#waitingBytes -= room.bytes;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isLate = false;
    return taken;
  }

  async #send(batch: readonly Entry<T>[]): Promise<void> {
    const items = batch.map(({ item }) => item);
    const outcome = await this.#services.deliver(items, this.#givenUp.signal);
    this.#sending--;
    this.#settle(batch, outcome);
    this.#sendDue();
    this.#endWhenIdle();
  }

  #settle(entries: readonly Entry<T>[], outcome: Delivered): void {
    const { figures } = this.#services;
    figures.outcomes[outcome] += entries.length;
    figures.queued -= entries.length;
    for (const { room } of entries) room.release();
    if (this.#waiting.length === 0 && this.#sending === 0) this.#overflows = false;
  }

  #endWhenIdle(): void {
    if (this.#isClosed && this.#waiting.length === 0 && this.#sending === 0) this.#services.ended();
  }
}
