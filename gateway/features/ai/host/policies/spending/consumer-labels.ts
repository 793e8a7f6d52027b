/** Names of consumers in a metric, of which there may be only so many. */

/** Most consumers of a process that the metric names. Each config may name as many as it leaves to others. */
const MOST_CONSUMERS = 2_000;
export const OTHER = 'other';

export class ConsumerLabels {
  readonly #named = new Set<string>();

  /** The labels of one config: a consumer's name, or `other` for those past its share. */
  ofConfig(): (consumer: string) => string {
    let own = 0;
    return (consumer) => {
      if (this.#named.has(consumer)) return consumer;
      if (own >= MOST_CONSUMERS - this.#named.size) return OTHER;
      this.#named.add(consumer);
      own++;
      return consumer;
    };
  }
}
