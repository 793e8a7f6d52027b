/** Looks a name up, whatever the case of its letters. */
export class NameTable<Value> {
  readonly #byLowerCase: ReadonlyMap<string, readonly [name: string, value: Value]>;

  constructor(entries: Iterable<readonly [string, Value]>) {
    this.#byLowerCase = new Map([...entries].map((entry) => [entry[0].toLowerCase(), entry] as const));
  }

  get(name: string): readonly [name: string, value: Value] | undefined {
    return this.#byLowerCase.get(name.toLowerCase());
  }

  /** Another name that the writer may have meant: the same but for one letter left out, added, changed or swapped. */
  near(name: string): string | undefined {
    const wanted = name.toLowerCase();
    if (wanted.length > 40) return undefined;
    for (const [lower, [original]] of this.#byLowerCase) if (differByOne(lower, wanted)) return original;
    return undefined;
  }
}

function differByOne(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right === `${left[1]}${left[0]}`;
}
