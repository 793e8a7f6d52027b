/** The rules of a rule set by id and tag: what the host needs of them beside the engine. */
import type { Program, ProgramRule, RuleRanges } from '../seclang/program.ts';

export type RuleFacts = Pick<ProgramRule, 'id' | 'severity' | 'tags'>;

export class RuleIndex {
  readonly #rules: readonly RuleFacts[];

  constructor({ rules }: Pick<Program, 'rules'>) {
    this.#rules = rules.map(({ id, severity, tags }) => ({ id, severity, tags }));
  }

  /** Returns the rule at an index that the engine names. */
  at(index: number): RuleFacts | undefined {
    return this.#rules[index];
  }

  /** All rules. */
  get all(): RuleRanges {
    return this.#rules.length === 0 ? [] : [[0, this.#rules.length - 1]];
  }

  /** Rules with an id in one of the ranges, or with one of the tags. */
  find(ids: readonly (readonly [from: number, to: number])[], tags: readonly string[]): RuleRanges {
    const ranges: [number, number][] = [];
    for (const [index, rule] of this.#rules.entries()) {
      const byId = ids.some(([from, to]) => rule.id >= from && rule.id <= to);
      if (!byId && !tags.some((tag) => rule.tags.includes(tag))) continue;
      const last = ranges.at(-1);
      if (last !== undefined && last[1] === index - 1) last[1] = index;
      else ranges.push([index, index]);
    }
    return ranges;
  }
}
