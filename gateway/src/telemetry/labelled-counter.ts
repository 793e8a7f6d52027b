/** A counter with labels of closed sets of values. */
export class LabelledCounter {
  readonly #labels: readonly string[];
  readonly #samples = new Map<string, { readonly labels: Record<string, string>; value: number }>();

  constructor(labels: readonly string[]) {
    this.#labels = labels;
  }

  /** Counts one more for these values of the labels, in their order. */
  count(...values: string[]): void {
    this.add(1, ...values);
  }

  add(amount: number, ...values: string[]): void {
    const key = values.join('\0');
    let sample = this.#samples.get(key);
    if (sample === undefined) {
      sample = { labels: labelled(this.#labels, values), value: 0 };
      this.#samples.set(key, sample);
    }
    sample.value += amount;
  }

  /** Current values. */
  get samples() {
    return [...this.#samples.values()];
  }
}

/** Names and values by their places. */
export function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']));
}
