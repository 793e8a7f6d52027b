/** Counts the observations of a histogram: in typed arrays, at places found at load. */

export type Labels = Record<string, string>;
export interface Sample {
  labels: Labels & { le?: string };
  value: number;
  metricName?: string;
}

/** Counts of one histogram and label set: a count for each bucket, then the sum. */
export class Cell {
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 2);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] as number)) i++;
    const counts = this.#counts;
    counts[i] = (counts[i] as number) + 1;
    counts[bounds.length + 1] = (counts[bounds.length + 1] as number) + value;
  }

  samples(name: string, labels: Labels): Sample[] {
    let total = 0;
    const samples: Sample[] = this.#bounds.map((bound, i) => {
      total += this.#counts[i] as number;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: total };
    });
    total += this.#counts[this.#bounds.length] as number;
    samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: total });
    samples.push({ metricName: `${name}_sum`, labels, value: this.#counts[this.#bounds.length + 1] as number });
    samples.push({ metricName: `${name}_count`, labels, value: total });
    return samples;
  }
}
