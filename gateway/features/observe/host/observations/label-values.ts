/** Values of a field as a metric's label: a set that no client can make larger (docs/decisions.md#observed-labels). */

/** The value of a label for unlisted values. */
const OTHER = 'other';
/** The request has no value. */
const NONE = 'none';

export interface LabelValues {
  /** The label's value. */
  of(value: string | undefined): string;
}

/** Values that a config lists. */
export class ListedValues implements LabelValues {
  readonly #values: ReadonlySet<string>;

  constructor(values: readonly string[]) {
    this.#values = new Set(values);
  }

  of(value: string | undefined): string {
    if (value === undefined) return NONE;
    return this.#values.has(value) ? value : OTHER;
  }
}

/** The first that occur. `seen` is shared by all artifacts of a process, as the counters are. */
export class FirstValues implements LabelValues {
  readonly #seen: Set<string>;
  readonly #most: number;

  constructor(seen: Set<string>, most: number) {
    this.#seen = seen;
    this.#most = most;
  }

  of(value: string | undefined): string {
    if (value === undefined) return NONE;
    if (this.#seen.has(value)) return value;
    if (this.#seen.size >= this.#most) return OTHER;
    this.#seen.add(value);
    return value;
  }
}
