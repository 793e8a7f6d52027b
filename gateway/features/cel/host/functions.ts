/**
 * Replacements of library functions that depart from the language (`timestamp(int)` is in seconds, conversions of text
 * are strict) or could be made to take long.
 */
import {
  type CelFunc,
  type CelList,
  CelScalar,
  type CelValue,
  celFunc,
  celList,
  celMethod,
  celUint,
  listType,
  mapType,
} from '@bufbuild/cel';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TIMESTAMP } from './request-types.ts';

const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
const LIST = listType(DYN);
const MAP = mapType(DYN, DYN);

/** Calls that the compiler puts in; no expression can spell them. The first two are there to be metered, as every call is. */
export const TICK = '@tick';
export const RANGE = '@range';
export const APPEND = '@append';

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const SPECIAL = /^([+-]?(inf|infinity)|nan)$/i;
const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;
const MOST_DIGITS = 40;

function integerOf(text: string, least: bigint, most: bigint): bigint {
  const value = text.length <= MOST_DIGITS && INTEGER.test(text) ? BigInt(text.replace('+', '')) : most + 1n;
  if (value < least || value > most) throw new Error('the text is not an integer of its type');
  return value;
}

function doubleOf(text: string): number {
  if (NUMBER.test(text)) return Number(text);
  if (!SPECIAL.test(text)) throw new Error('the text is not a double');
  if (/^nan$/i.test(text)) return Number.NaN;
  return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Lists that a macro is building: each belongs to one, so that it can grow in place. */
const growing = new WeakMap<CelList, CelValue[]>();

function append(list: CelList, item: CelValue): CelList {
  const items = growing.get(list);
  if (items) {
    items.push(item);
    return list;
  }
  const fresh = [...list, item];
  const built = celList(fresh);
  growing.set(built, fresh);
  return built;
}

/** `matches` of expression and text; patterns are those of the expression, compiled when it was. */
export type Matches = (text: string, pattern: string) => boolean;

export function ownFunctions(matches: Matches): CelFunc[] {
  return [
    celFunc(TICK, [DYN], DYN, (condition) => condition),
    celFunc(RANGE, [DYN], DYN, (range) => range),
    celFunc(APPEND, [LIST, DYN], LIST, append),
    // The library's ignores keys whose value is null.
    celFunc('@in', [STRING, MAP], BOOL, (key, map) => map.get(key) !== undefined),
    celFunc('int', [STRING], INT, (text) => integerOf(text, MIN_INT, MAX_INT)),
    celFunc('uint', [STRING], UINT, (text) => celUint(integerOf(text, 0n, MAX_UINT))),
    celFunc('double', [STRING], DOUBLE, doubleOf),
    celFunc('timestamp', [INT], TIMESTAMP, (seconds) => timestampFromMs(Number(seconds) * 1000)),
    celFunc('matches', [STRING, STRING], BOOL, matches),
    celMethod('matches', STRING, [STRING], BOOL, function (pattern) {
      return matches(this, pattern);
    }),
    celMethod('replace', STRING, [STRING, STRING], STRING, function (from, to) {
      return this.replaceAll(from, () => to);
    }),
  ];
}
