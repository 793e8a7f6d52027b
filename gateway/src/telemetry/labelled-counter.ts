/** A counter with one label, whose values are a closed set. */
export class LabelledCounter {
  readonly #label: string;
  readonly #samples = new Map<string, { readonly labels: Record<string, string>; value: number }>();

  constructor(label: string) {
    this.#label = label;
  }

  /** One more of this value of the label. */
  count(value: string): void {
    const sample = this.#samples.get(value) ?? { labels: { [this.#label]: value }, value: 0 };
    sample.value++;
    this.#samples.set(value, sample);
  }

  /** As they are now. */
  get samples() {
    return [...this.#samples.values()];
  }
}
