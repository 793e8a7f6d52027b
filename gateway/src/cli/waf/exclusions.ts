/** Exclusions to write for what rules matched (docs/reference/plugins.md#waf). */
import { parametersOf } from './excluded-parameters.ts';

/** A member of `exclusions` in the config of `waf`. */
export interface Exclusion {
  readonly rules: readonly number[];
  /** Method and path, such as `GET /books/{id}`. */
  readonly operations: readonly string[];
  /** Absent: the rules do not run for the operations. */
  readonly parameters?: readonly string[];
}

/** Returns the exclusion for a rule that matches at a variable of an operation. */
export function exclusionOf(rule: number, variable: string, method: string, route: string): Exclusion {
  const parameters = parametersOf(variable, method);
  const operations = [`${method} ${route}`];
  return parameters.length === 0 ? { rules: [rule], operations } : { rules: [rule], operations, parameters };
}

/**
 * Returns as few exclusions as there can be of the same meaning. An exclusion of a rule for an operation takes the place
 * of those of its parameters there.
 */
export function mergedExclusions(each: readonly Exclusion[]): readonly Exclusion[] {
  const whole = new Set(each.filter(({ parameters }) => parameters === undefined).flatMap(pairsOf));
  const needed = each.filter((one) => one.parameters === undefined || !pairsOf(one).every((pair) => whole.has(pair)));
  const byRules = grouped(needed, ({ operations, parameters }) => [operations, parameters]).map((same) => ({
    ...same[0],
    rules: [...new Set(same.flatMap(({ rules }) => rules))].sort((a, b) => a - b),
  }));
  const byOperations = grouped(byRules, ({ rules, parameters }) => [rules, parameters]).map((same) => ({
    ...same[0],
    operations: sorted(same.flatMap(({ operations }) => operations)),
  }));
  return grouped(byOperations, ({ rules, operations, parameters }) => [
    rules,
    operations,
    parameters === undefined,
  ]).map((same) => {
    const parameters = same.flatMap((one) => one.parameters ?? []);
    return parameters.length === 0 ? same[0] : { ...same[0], parameters: sorted(parameters) };
  });
}

function pairsOf({ rules, operations }: Exclusion): readonly string[] {
  return rules.flatMap((rule) => operations.map((operation) => `${rule} ${operation}`));
}

/** Returns those of equal keys together. */
function grouped(
  each: readonly Exclusion[],
  keyOf: (exclusion: Exclusion) => readonly unknown[],
): readonly (readonly [Exclusion, ...Exclusion[]])[] {
  const groups = [...Map.groupBy(each, (one) => JSON.stringify(keyOf(one))).values()];
  return groups.flatMap(([first, ...more]) => (first === undefined ? [] : [[first, ...more] as const]));
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
