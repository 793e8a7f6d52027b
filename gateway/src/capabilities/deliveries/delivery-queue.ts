/**
 * What waits to be delivered to one target, in order, and is sent in batches. Bounded, by itself and by its share of what
 * the process holds: what finds no room is dropped and counted, and never delays a request.
 */
import type { Share } from '../publishing/in-flight.ts';
import type { Delivered, PluginDeliveries } from './figures.ts';

export interface QueueSettings {
  /** A batch is sent when it has as many entries or bytes, or when its first entry has waited as long. */
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
  /** It was closed, and nothing of it is left. */
  ended(): void;
}

interface Entry<T> {
  readonly item: T;
  readonly bytes: number;
  readonly giveBack: () => void;
}

export class DeliveryQueue<T> {
  readonly #settings: QueueSettings;
  readonly #services: QueueServices<T>;
  readonly #givenUp = new AbortController();
  #waiting: Entry<T>[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  #sending = 0;
  /** Until the first that waits has waited long enough; it has where `#isLate`. */
  #timer: NodeJS.Timeout | null = null;
  #isLate = false;
  #isClosed = false;
  #overflows = false;

  constructor(settings: QueueSettings, services: QueueServices<T>) {
    this.#settings = settings;
    this.#services = services;
  }

  /** False where it is dropped. */
  add(item: T, bytes: number): boolean {
    const { share, figures } = this.#services;
    const hasRoom = !this.#givenUp.signal.aborted && this.#bytes + bytes <= this.#settings.maxQueueBytes;
    const giveBack = hasRoom ? share.take(bytes) : null;
    if (giveBack === null) {
      this.#drop();
      return false;
    }
    this.#waiting.push({ item, bytes, giveBack });
    this.#waitingBytes += bytes;
    this.#bytes += bytes;
    figures.queued++;
    figures.queuedBytes += bytes;
    this.#sendDue();
    return true;
  }

  /** Sends what waits without delay. Requests that have not ended may still add to it. */
  close(): void {
    this.#isClosed = true;
    this.#sendDue();
    this.#endWhenIdle();
  }

  /** Drops what waits, and gives up what is being sent. */
  giveUp(): void {
    this.#givenUp.abort();
    const waiting = this.#waiting;
    this.#take(waiting.length);
    this.#settle(waiting, 'dropped');
    this.#endWhenIdle();
  }

  #drop(): void {
    this.#services.figures.outcomes.dropped++;
    if (this.#overflows) return;
    this.#overflows = true;
    this.#services.overflows();
  }

  #sendDue(): void {
    while (this.#sending < this.#settings.parallel && this.#isDue()) {
      this.#sending++;
      void this.#send(this.#take(this.#batchLength()));
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
    let bytes = this.#waiting[0]?.bytes ?? 0;
    let length = 1;
    while (length < Math.min(this.#waiting.length, maxEntries)) {
      bytes += this.#waiting[length]?.bytes ?? 0;
      if (bytes > maxBytes) break;
      length++;
    }
    return length;
  }

  #take(length: number): readonly Entry<T>[] {
    const taken = this.#waiting.slice(0, length);
    this.#waiting = this.#waiting.slice(length);
    for (const { bytes } of taken) this.#waitingBytes -= bytes;
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
    for (const { bytes, giveBack } of entries) {
      giveBack();
      this.#bytes -= bytes;
      figures.queued--;
      figures.queuedBytes -= bytes;
    }
    if (this.#waiting.length === 0 && this.#sending === 0) this.#overflows = false;
  }

  #endWhenIdle(): void {
    if (this.#isClosed && this.#waiting.length === 0 && this.#sending === 0) this.#services.ended();
  }
}
