/** Checks what a `waf` config says about rules against the rules that there are. */
import { type DataFinding, get, isList, type JsonObject } from '../../kit.ts';
import type { RuleIndex } from '../host/rule-index.ts';
import { idsOf } from '../host/settings.ts';

export function checkConfig(config: JsonObject, index: RuleIndex): readonly DataFinding[] {
  const { exclusions = [] } = config;
  const each = isList(exclusions) ? exclusions : [];
  const unknown = each.flatMap((exclusion, i) => unknownRules(exclusion, `/exclusions/${i}`, index));
  return [...levels(config), ...packages(config), ...unknown];
}

function packages({ core_rules, exclusion_packages }: JsonObject): readonly DataFinding[] {
  if (core_rules !== false || listOf(exclusion_packages).length === 0) return [];
  const message = '"exclusion_packages" changes core rules, and "core_rules" is false';
  return [{ code: 'E1030', pointer: '/exclusion_packages', message, hint: 'Remove one of the two.' }];
}

function levels({ paranoia_level, detection_paranoia_level }: JsonObject): readonly DataFinding[] {
  if (typeof paranoia_level !== 'number' || typeof detection_paranoia_level !== 'number') return [];
  if (detection_paranoia_level >= paranoia_level) return [];
  const message = `"detection_paranoia_level" is ${detection_paranoia_level}, below "paranoia_level" ${paranoia_level}`;
  const hint = 'Write a higher level, or remove it: rules that count for the refusal must run.';
  return [{ code: 'E1030', pointer: '/detection_paranoia_level', message, hint }];
}

function unknownRules(exclusion: unknown, pointer: string, index: RuleIndex): readonly DataFinding[] {
  const rules = listOf(get(exclusion, 'rules')).flatMap((rule, i) => {
    const ids = idsOf(rule);
    if (ids === null) return [finding('E1030', `${pointer}/rules/${i}`, `"${String(rule)}" is not a range of ids`)];
    if (index.find([ids], []).length > 0) return [];
    return [finding('E1084', `${pointer}/rules/${i}`, `no rule has the id ${String(rule)}`)];
  });
  const tags = listOf(get(exclusion, 'tags')).flatMap((tag, i) => {
    if (typeof tag !== 'string' || index.find([], [tag]).length > 0) return [];
    return [finding('E1084', `${pointer}/tags/${i}`, `no rule has the tag "${tag}"`)];
  });
  return [...rules, ...tags];
}

function finding(code: 'E1030' | 'E1084', pointer: string, message: string): DataFinding {
  return { code, pointer, message, hint: 'Correct it, or remove it: the log names rules by id and tags.' };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
