/** Patterns of `matches`: RE2's, in linear time, and only such as stand in the expression, so that no client brings one. */
import { RE2JS } from 're2js';
import { messageOf } from '../../kit.ts';
import type { Matches } from './functions.ts';
import type { Meter } from './meter.ts';
import { type Expr, fail } from './syntax.ts';

/** Characters that matching goes through in the time of a step, and characters times states off the fast path. */
const STEP = { characters: 8, states: 100 };
/** Longest pattern: a repetition in it may be a thousand states. */
const MOST_PATTERN = 1_000;

export class LiteralPatterns {
  readonly #compiled = new Map<string, RE2JS | null>();

  /** Throws if a literal argument of `matches` is not a pattern. */
  constructor(expr: Expr) {
    this.#collect(expr);
  }

  matches(meter: Meter): Matches {
    return (text, pattern) => {
      const compiled = this.#pattern(pattern);
      const states = compiled.programSize();
      meter.charge(Math.ceil(text.length * Math.max(1 / STEP.characters, states / STEP.states)));
      return compiled.matcher(text).find();
    };
  }

  #pattern(source: string): RE2JS {
    const known = this.#compiled.get(source);
    if (known) return known;
    if (known === undefined) throw new Error('a pattern must be a literal in the expression');
    const compiled = compilePattern(source);
    this.#compiled.set(source, compiled);
    return compiled;
  }

  #collect(expr: Expr): void {
    const { exprKind: kind } = expr;
    if (kind.case === 'constExpr' && kind.value.constantKind.case === 'stringValue') {
      const { value } = kind.value.constantKind;
      if (!this.#compiled.has(value)) this.#compiled.set(value, null);
    }
    for (const each of partsOf(kind)) this.#collect(each);
    if (kind.case !== 'callExpr' || kind.value.function !== 'matches') return;
    const pattern = kind.value.args.at(-1);
    if (pattern?.exprKind.case !== 'constExpr' || pattern.exprKind.value.constantKind.case !== 'stringValue') return;
    const { value } = pattern.exprKind.value.constantKind;
    try {
      this.#compiled.set(value, compilePattern(value));
    } catch (error) {
      fail(pattern.id, `this is not an RE2 pattern: ${messageOf(error)}`);
    }
  }
}

/** Throws if the pattern is malformed or too long. */
function compilePattern(source: string): RE2JS {
  if (source.length > MOST_PATTERN) throw new Error(`longer than ${MOST_PATTERN} characters`);
  return RE2JS.compile(source);
}

function partsOf(kind: Expr['exprKind']): readonly Expr[] {
  switch (kind.case) {
    case 'selectExpr':
      return kind.value.operand ? [kind.value.operand] : [];
    case 'callExpr':
      return [...(kind.value.target ? [kind.value.target] : []), ...kind.value.args];
    case 'listExpr':
      return kind.value.elements;
    case 'structExpr':
      return kind.value.entries.flatMap(({ keyKind, value }) => [
        ...(keyKind.case === 'mapKey' ? [keyKind.value] : []),
        ...(value ? [value] : []),
      ]);
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = kind.value;
      return [iterRange, accuInit, loopCondition, loopStep, result].flatMap((each) => each ?? []);
    }
    default:
      return [];
  }
}
