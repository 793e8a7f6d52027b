/**
 * Uploads, from the first byte of their body until they are read: so many at once, in all and of a project, and
 * projects take turns. Of one that waits nothing is read: its bytes stay with the client.
 */
import type { IncomingMessage } from 'node:http';
import { ByOwner } from '@gw/gateway/by-owner';
import { ControlError } from '../errors.ts';

export interface UploadLimits {
  /** Under way at once; default 32. */
  readonly most: number;
  /** Of one project; default 4: what has come is read one at a time in any case. */
  readonly mostOfProject: number;
  /** That wait; default 256. Past it the latest of the project that has most of them is refused. */
  readonly mostWaiting: number;
}

const LIMITS: UploadLimits = { most: 32, mostOfProject: 4, mostWaiting: 256 };

interface Waiting {
  readonly owner: string;
  begin(): void;
  refuse(error: ControlError): void;
}

export class UploadQueue {
  readonly #limits: UploadLimits;
  readonly #waiting = new ByOwner<Waiting>();
  /** Under way, by project. */
  readonly #running = new Map<string, number>();
  #total = 0;

  constructor(limits: UploadLimits = LIMITS) {
    this.#limits = limits;
  }

  /**
   * `take` when it is the turn of `owner`, the project. Rejects as `take` does; with `unavailable` (503, to be sent again)
   * where too many wait, and where the client leaves first.
   */
  async run<T>(owner: string, { socket }: IncomingMessage, take: () => Promise<T>): Promise<T> {
    await this.#turn(owner, socket);
    try {
      if (socket.destroyed) throw left();
      return await take();
    } finally {
      this.#count(owner, -1);
      this.#next();
    }
  }

  async #turn(owner: string, socket: IncomingMessage['socket']): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { owner, begin: resolve, refuse: reject };
    const gone = () => {
      if (this.#waiting.delete(waiting)) reject(left());
    };
    socket.once('close', gone);
    this.#waiting.add(waiting);
    this.#next();
    if (this.#waiting.size > this.#limits.mostWaiting) this.#waiting.takeLatestOfBusiest()?.refuse(crowded());
    await promise.finally(() => socket.off('close', gone));
  }

  #next(): void {
    const { most, mostOfProject } = this.#limits;
    while (this.#total < most) {
      const next = this.#waiting.takeInTurn((owner) => (this.#running.get(owner) ?? 0) < mostOfProject);
      if (!next) return;
      this.#count(next.owner, 1);
      next.begin();
    }
  }

  #count(owner: string, by: 1 | -1): void {
    this.#total += by;
    const now = (this.#running.get(owner) ?? 0) + by;
    if (now === 0) this.#running.delete(owner);
    else this.#running.set(owner, now);
  }
}

function crowded(): ControlError {
  const detail = 'too many uploads of this project are waiting: send it again later, and fewer at once';
  return new ControlError('unavailable', detail);
}

function left(): ControlError {
  return new ControlError('unavailable', 'the connection ended before the upload was processed: send it again');
}
