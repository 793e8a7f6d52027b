/** All queues of a process: their common memory, and their end. */

import { type HttpCaller, InFlight } from '../../../kit.ts';
import { DeliveryQueue, type QueueServices, type QueueSettings } from './delivery-queue.ts';
import { DeliveryFigures } from './figures.ts';
import type { DeliveryLog } from './target.ts';

/** Limits for all targets of a process; each may hold as much as is left free. */
const LIMITS = { messages: 100_000, bytes: 64 << 20 };

interface Opening<T> extends Pick<QueueServices<T>, 'deliver' | 'overflows'> {
  readonly plugin: string;
  readonly settings: QueueSettings;
}

/** A queue, for the code that ends it. */
type Ending = Pick<DeliveryQueue<never>, 'close' | 'giveUp'>;

export class Deliveries {
  readonly figures = new DeliveryFigures();
  readonly #inFlight = new InFlight(LIMITS);
  readonly #queues = new Set<Ending>();
  #idle: (() => void) | null = null;

  /** For one artifact: its queues end when they are empty, after its last request. */
  use(): ArtifactDeliveries {
    const mine: Ending[] = [];
    return {
      open: <T>({ plugin, settings, ...services }: Opening<T>) => {
        const share = this.#inFlight.share();
        const figures = this.figures.of(plugin);
        const queue = new DeliveryQueue<T>(settings, {
          ...{ share, figures, ...services },
          ended: () => this.#ended(queue),
          resumed: () => this.#queues.add(queue),
        });
        this.#queues.add(queue);
        mine.push(queue);
        return queue;
      },
      close: () => {
        for (const queue of mine) queue.close();
      },
    };
  }

  /** Delivers the remaining items, and gives up those not delivered within that many milliseconds. */
  async drain(withinMs: number): Promise<void> {
    for (const queue of [...this.#queues]) queue.close();
    if (this.#queues.size === 0) return;
    let late: NodeJS.Timeout | null = null;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
      late = setTimeout(resolve, withinMs);
    });
    if (late !== null) clearTimeout(late);
    for (const queue of [...this.#queues]) queue.giveUp();
  }

  #ended(queue: Ending): void {
    this.#queues.delete(queue);
    if (this.#queues.size === 0) this.#idle?.();
  }
}

export interface ArtifactDeliveries {
  open<T>(opening: Opening<T>): DeliveryQueue<T>;
  close(): void;
}

/** Services for the config of a plugin that delivers. */
export interface DeliveryServices {
  readonly http: HttpCaller;
  readonly deliveries: ArtifactDeliveries;
  /** Its name, for metrics. */
  readonly plugin: string;
  readonly log: DeliveryLog;
}
