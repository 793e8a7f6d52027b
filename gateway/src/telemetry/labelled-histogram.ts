/** A histogram with labels of closed sets of values. */
import { Cell, type Labels, type Sample } from './cell.ts';
import { labelled } from './labelled-counter.ts';

export class LabelledHistogram {
  readonly #labels: readonly string[];
  readonly #buckets: readonly number[];
  readonly #cells = new Map<string, { readonly labels: Labels; readonly cell: Cell }>();

  constructor(labels: readonly string[], buckets: readonly number[]) {
    this.#labels = labels;
    this.#buckets = buckets;
  }

  /** `values`: of the labels, in their order. */
  observe(value: number, ...values: string[]): void {
    const key = values.join('\0');
    let found = this.#cells.get(key);
    if (found === undefined) {
      found = { labels: labelled(this.#labels, values), cell: new Cell(this.#buckets) };
      this.#cells.set(key, found);
    }
    found.cell.observe(value);
  }

  /** Returns the current values. */
  samples(name: string): Sample[] {
    return [...this.#cells.values()].flatMap(({ labels, cell }) => cell.samples(name, labels));
  }
}
