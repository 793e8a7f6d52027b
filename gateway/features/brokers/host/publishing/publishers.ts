/** The publishers of a process, by their settings: plugins with equal ones share one, over artifacts. */
import type { Publisher, PublisherLog } from './publisher.ts';

interface Kept<M, A> {
  readonly publisher: Publisher<M, A>;
  /** Artifacts that use it. */
  users: number;
}

export class Publishers<S, M, A> {
  readonly #make: (settings: S, log: PublisherLog) => Publisher<M, A>;
  readonly #kept = new Map<string, Kept<M, A>>();

  constructor(make: (settings: S, log: PublisherLog) => Publisher<M, A>) {
    this.#make = make;
  }

  /** Returns the publishers of one artifact; each ends with the last artifact that has opened it. */
  use(): ArtifactPublishers<S, M, A> {
    const mine = new Map<string, Publisher<M, A>>();
    return {
      open: (settings, log) => {
        const key = JSON.stringify(settings);
        const known = mine.get(key);
        if (known) return known;
        const kept = this.#kept.get(key) ?? { publisher: this.#make(settings, log), users: 0 };
        kept.users++;
        this.#kept.set(key, kept);
        mine.set(key, kept.publisher);
        return kept.publisher;
      },
      close: () => {
        for (const key of mine.keys()) this.#leave(key);
        mine.clear();
      },
    };
  }

  #leave(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined || --kept.users > 0) return;
    this.#kept.delete(key);
    kept.publisher.close();
  }
}

export interface ArtifactPublishers<S, M, A> {
  /** `log`: reports outages, for the first caller that opens it. */
  open(settings: S, log: PublisherLog): Publisher<M, A>;
  close(): void;
}
