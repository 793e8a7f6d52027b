/** The topics that a process reads, by the settings of their brokers and their names: plugins with equal ones share one. */

import { FairQueue } from '../../../kit.ts';
import type { PublisherLog } from '../publishing/publisher.ts';
import { Topic } from './topic.ts';
import type { TopicSource } from './topic-source.ts';

/** Reads of earlier messages under way at once, for clients that resume; others wait, and clients take turns. */
const BACKLOG_READS = {
  atOnce: 8,
  mostWaiting: Number.POSITIVE_INFINITY,
  mostMs: Number.POSITIVE_INFINITY,
};

export interface ArtifactTopics<S> {
  /** `log`: reports outages, for the first caller that opens it. To be held at once. */
  open(settings: S, name: string, log: PublisherLog): Topic;
  close(): void;
}

export class Topics<S> {
  readonly #sourceOf: (settings: S, name: string) => TopicSource;
  readonly #open = new Map<string, Topic>();
  readonly #turns = new FairQueue(BACKLOG_READS);
  #artifacts = 0;

  constructor(sourceOf: (settings: S, name: string) => TopicSource) {
    this.#sourceOf = sourceOf;
  }

  /** For one artifact. Its clients may outlive it. */
  use(): ArtifactTopics<S> {
    this.#artifacts++;
    return {
      open: (settings, name, log) => {
        const key = JSON.stringify([settings, name]);
        return this.#open.get(key) ?? this.#make(key, this.#sourceOf(settings, name), log);
      },
      close: () => {
        if (--this.#artifacts > 0) return;
        for (const topic of this.#open.values()) if (!topic.isHeld) topic.end();
      },
    };
  }

  #make(key: string, source: TopicSource, log: PublisherLog): Topic {
    const topic = new Topic(source, { log, turns: this.#turns, ended: () => this.#open.delete(key) });
    this.#open.set(key, topic);
    return topic;
  }
}
