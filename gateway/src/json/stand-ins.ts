/**
 * Numbers that stand in for those of a text that binary64 does not hold, while a value is validated
 * (docs/decisions.md#numbers-are-decimal). Equal decimals have one stand-in, so that values can be compared directly;
 * comparisons by size use the decimal. A stand-in is never a number of a text: every number in their two ranges gets
 * one.
 */
import { someBetweenStrings } from './between-strings.ts';
import { type Decimal, decimalText, isWhole, readDecimal } from './decimal.ts';
import { readEscapedNames } from './escaped-names.ts';
import { mayBeInexact } from './exact-json.ts';

/** Stand-ins from here up to infinity are for integers, and those between zero and its inverse for fractions. */
export const HUGE = 2 ** 1000;
export const TINY = 2 ** -1000;
/** Stand-ins that follow each other. */
const [HUGE_STEP, TINY_STEP] = [2 ** 948, 2 ** -1070];

export function isStandIn(value: number): boolean {
  return value >= HUGE || (value < TINY && value > 0);
}

const NUMBERS = /-?\d[-+.\deE]*/g;

/** Reports whether the number that JavaScript reads equals that of the text, and is not a stand-in. */
export function isHeld(text: string): boolean {
  const value = Number(text);
  if (!Number.isFinite(value) || isStandIn(Math.abs(value))) return false;
  const shortest = String(value);
  if (shortest === text) return true;
  const [one, other] = [readDecimal(text), readDecimal(shortest)];
  return one !== null && other !== null && decimalText(one) === decimalText(other);
}

/** Reports whether a JSON text has a number that JavaScript cannot represent: for most texts, one look suffices. */
export function hasUnheldNumber(json: string): boolean {
  if (!mayBeInexact(json)) return false;
  return someBetweenStrings(json, (part) => {
    return mayBeInexact(part) && (part.match(NUMBERS) ?? []).some((each) => mayBeInexact(each) && !isHeld(each));
  });
}

const decimals = new Map<number, Decimal>();
const standIns = new Map<string, number>();

/** Called before a value is read: earlier stand-ins become invalid. */
export function forgetStandIns(): void {
  if (decimals.size === 0) return;
  decimals.clear();
  standIns.clear();
}

/** The number of a text that writes one as JSON does, or its stand-in. */
export function numberOf(text: string): number {
  if (!mayBeInexact(text) || isHeld(text)) return Number(text);
  const decimal = readDecimal(text);
  if (decimal === null) return Number(text);
  const key = decimalText(decimal);
  const known = standIns.get(key);
  if (known !== undefined) return known;
  const next = decimals.size + 1;
  const made = isWhole(decimal) ? HUGE + next * HUGE_STEP : next * TINY_STEP;
  decimals.set(made, decimal);
  standIns.set(key, made);
  return made;
}

/** Returns the exact decimal of a number under validation. */
export function decimalOf(value: number): Decimal {
  return decimals.get(value) ?? readDecimal(String(value)) ?? { isNegative: false, digits: '', exponent: 0 };
}

/** Parses JSON with stand-ins for numbers that need them. `json`: must be valid. */
export function readWithStandIns(json: string, lastCounts: boolean): unknown {
  return readEscapedNames(json, lastCounts, (token) => {
    const first = token.charCodeAt(0);
    return first === MINUS || (first >= DIGIT_0 && first <= DIGIT_9) ? numberOf(token) : JSON.parse(token);
  });
}

const [MINUS, DIGIT_0, DIGIT_9] = [0x2d, 0x30, 0x39];

/** Text by which values are equal: members sorted, numbers by their decimal value. */
export function comparable(value: unknown): string {
  if (typeof value === 'number') return isStandIn(value) ? decimalText(decimalOf(value)) : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(comparable).join()}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${comparable(Reflect.get(value, name))}`).join()}}`;
}
