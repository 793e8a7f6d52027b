/** Selects rules by id, tag or message. */
import { MAX_CHANGES } from './limits.ts';
import { plainText } from './macros.ts';
import type { RuleActions, RuleQuery } from './model.ts';
import type { RuleRanges } from './program.ts';
import type { RuleEntry } from './rule-entry.ts';

/** Finds rules by id, tag or message. */
export class Selection {
  readonly #sorted: readonly RuleEntry[];
  readonly #byText = { tag: new Map<string, RuleEntry[]>(), msg: new Map<string, RuleEntry[]>() };

  constructor(rules: readonly RuleEntry[]) {
    this.#sorted = rules.toSorted((a, b) => a.id - b.id);
    for (const entry of rules) {
      const { tags, msg } = entry.links[0]!.actions;
      for (const tag of new Set(tags)) add(this.#byText.tag, tag, entry);
      if (msg !== undefined) add(this.#byText.msg, plainText(msg) ?? sourceText(msg), entry);
    }
  }

  find(query: RuleQuery): readonly RuleEntry[] {
    if (query.by !== 'id') return this.#byText[query.by].get(query.text) ?? [];
    return this.#sorted.slice(this.#first(query.from), this.#first(query.to + 1));
  }

  /** Position of the first rule with this id or a higher one. */
  #first(id: number): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sorted[middle]!.id < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function add(map: Map<string, RuleEntry[]>, key: string, entry: RuleEntry): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [entry]);
  else list.push(entry);
}

/** A message as the file has it: rules are found by it before macros are replaced. */
function sourceText(text: NonNullable<RuleActions['msg']>): string {
  return text
    .map((part) => (typeof part === 'string' ? part : `%{${part.variable}${part.key === null ? '' : `.${part.key}`}}`))
    .join('');
}

/** Indexes of the rules that `ctl` actions select, each query computed once. */
export class RuleSets {
  changes = 0;
  readonly #selection: Selection;
  readonly #indexes: ReadonlyMap<RuleEntry, number>;
  readonly #known = new Map<string, RuleRanges>();

  constructor(rules: readonly RuleEntry[]) {
    this.#selection = new Selection(rules);
    this.#indexes = new Map(rules.map((entry, index) => [entry, index] as const));
  }

  rangesOf(query: RuleQuery): RuleRanges {
    const key = query.by === 'id' ? `id ${query.from} ${query.to}` : `${query.by} ${query.text}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = this.changes > MAX_CHANGES ? [] : this.#selection.find(query);
    this.changes += found.length;
    const ranges = rangesOf(found.map((entry) => this.#indexes.get(entry)!).sort((a, b) => a - b));
    this.#known.set(key, ranges);
    return ranges;
  }
}

function rangesOf(indexes: readonly number[]): RuleRanges {
  const ranges: [number, number][] = [];
  for (const index of indexes) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges;
}
