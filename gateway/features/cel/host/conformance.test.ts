/** The official conformance tests of the language, as far as conditions on requests can run them. */
import {
  getConformanceSuite,
  type IncrementalTest,
  type IncrementalTestSuite,
} from '@bufbuild/cel-spec/testdata/tests.js';
import { describe, expect, it } from 'vitest';
import { recordedExchange } from '../../../sdk/testing/recorder.ts';
import { compileCondition } from './expression.ts';
import { requestValue } from './request-view.ts';
import { ExpressionError } from './syntax.ts';

/** Protocol buffers, optional values and the libraries beyond strings are no part of what requests are looked at with. */
const SECTIONS = [
  'basic', 'comparisons', 'conversions', 'fields', 'fp_math', 'integer_math', 'lists', 'logic', 'macros', 'parse',
  'string', 'string_ext', 'timestamps',
]; // biome-ignore format: a list
const FOREIGN = /TestAllTypes|google\.protobuf\.(?!Timestamp\b|Duration\b)|proto[23]\./;

/** Where conditions depart from the language, and why. */
const NO_QUOTED_NAMES = 'the library has no names in back quotes: write map["name"]';
const DEPARTURES: Readonly<Record<string, string>> = {
  'fields/quoted_map_fields/field_access_slash': NO_QUOTED_NAMES,
  'fields/quoted_map_fields/field_access_dash': NO_QUOTED_NAMES,
  'fields/quoted_map_fields/field_access_dot': NO_QUOTED_NAMES,
  'fields/quoted_map_fields/has_field_slash': NO_QUOTED_NAMES,
  'fields/quoted_map_fields/has_field_dash': NO_QUOTED_NAMES,
  'fields/quoted_map_fields/has_field_dot': NO_QUOTED_NAMES,
  'fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous':
    'equal numbers of two types are two keys',
};

type Value = Extract<IncrementalTest['original']['resultMatcher'], { case: 'value' }>['value'];

/** The value as an expression; null for what has no literal. */
function literal({ kind }: Value): string | null {
  switch (kind.case) {
    case 'boolValue':
      return String(kind.value);
    case 'int64Value':
      return kind.value === -(2n ** 63n) ? '-9223372036854775808' : String(kind.value);
    case 'uint64Value':
      return `${kind.value}u`;
    case 'doubleValue':
      return Number.isFinite(kind.value) ? `double("${kind.value}")` : `double("${kind.value > 0 ? 'inf' : '-inf'}")`;
    case 'stringValue':
      return JSON.stringify(kind.value);
    case 'bytesValue':
      return `b"${[...kind.value].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`;
    case 'nullValue':
      return 'null';
    case 'typeValue':
      return kind.value;
    case 'listValue': {
      const items = kind.value.values.map(literal);
      return items.includes(null) ? null : `[${items.join(', ')}]`;
    }
    case 'mapValue': {
      const entries = kind.value.entries.map(({ key, value }) => [key && literal(key), value && literal(value)]);
      return entries.flat().some((each) => each == null)
        ? null
        : `{${entries.map((pair) => pair.join(': ')).join(', ')}}`;
    }
    default:
      return null;
  }
}

interface Case {
  readonly name: string;
  readonly expr: string;
  /** Null: evaluating it fails. */
  readonly value: string | null;
}

function casesOf(suite: IncrementalTestSuite, path: string): Case[] {
  const own = suite.tests.flatMap(({ name, original }): Case[] => {
    const { expr, resultMatcher, bindings, typeEnv, container, disableMacros, disableCheck } = original;
    const bound = Object.keys(bindings).length > 0 || typeEnv.length > 0 || container !== '';
    if (bound || disableMacros || disableCheck || FOREIGN.test(expr)) return [];
    const at = `${path}/${name}`;
    if (resultMatcher.case === undefined) return [{ name: at, expr, value: 'true' }];
    if (resultMatcher.case === 'evalError') return [{ name: at, expr, value: null }];
    const value = resultMatcher.case === 'value' ? literal(resultMatcher.value) : null;
    return value === null ? [] : [{ name: at, expr, value }];
  });
  return [...own, ...suite.suites.flatMap((each) => casesOf(each, `${path}/${each.name}`))];
}

const suites = getConformanceSuite().suites.filter(({ name }) => SECTIONS.includes(name));
const request = requestValue(recordedExchange({})).value;

/** True, false, or null where it cannot be evaluated, now or when it is compiled. */
function outcome(text: string): boolean | null {
  try {
    return compileCondition(text).evaluate(request).matches;
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}

describe.each(suites.map((suite) => [suite.name, casesOf(suite, suite.name)] as const))('%s', (_, cases) => {
  const kept = cases.filter(({ name }) => !Object.hasOwn(DEPARTURES, name));

  it.each(kept.filter(({ value }) => value !== null))('$name', ({ expr, value }) => {
    expect(outcome(`dyn(${expr}\n) == dyn(${value})`), `${expr} is ${value}`).toBe(true);
  });

  it.each(kept.filter(({ value }) => value === null))('$name fails', ({ expr }) => {
    expect(outcome(`dyn(${expr}\n) == dyn(1) || true == false`), expr).toBeNull();
  });

  it.each(cases.filter(({ name }) => Object.hasOwn(DEPARTURES, name)))('$name departs', ({ name, expr, value }) => {
    expect(outcome(`dyn(${expr}\n) == dyn(${value ?? '1'})`), DEPARTURES[name]).not.toBe(value === null ? null : true);
  });
});

it('runs most of them', () => {
  expect(suites.flatMap((suite) => casesOf(suite, suite.name)).length).toBeGreaterThan(1_000);
});
