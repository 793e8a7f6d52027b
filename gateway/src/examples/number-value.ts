/** Numbers as a schema wants them. */
import type { ValueGenerator } from './generator.ts';
import { numbersOf, type Parts } from './parts.ts';

export function numberValue(parts: Parts, isWhole: boolean, { random, reach }: ValueGenerator): number {
  const unit = numbersOf(parts, 'multipleOf').reduce(commonMultiple, isWhole ? 1 : 0) || (isWhole ? 1 : 0.01);
  const { low, high } = bounds(parts, unit, reach);
  const [first, last] = [Math.ceil(low / unit - 1e-9), Math.floor(high / unit + 1e-9)];
  const count = Math.max(0, last - first);
  const value = rounded((first + random.below(count + 1)) * unit, unit);
  // Between bounds that are closer than a unit, or so far out that numbers are further apart, there is at least the bound.
  return value >= low && value <= high ? value : Number.isFinite(low) ? low : high;
}

function bounds(parts: Parts, unit: number, count: number): { readonly low: number; readonly high: number } {
  const low = Math.max(
    ...numbersOf(parts, 'minimum'),
    ...numbersOf(parts, 'exclusiveMinimum').map((bound) => above(bound, unit)),
  );
  const high = Math.min(
    ...numbersOf(parts, 'maximum'),
    ...numbersOf(parts, 'exclusiveMaximum').map((bound) => -above(-bound, unit)),
  );
  // Above the lower bound, or below the upper, if only one is set.
  const reach = count * Math.max(unit, 1);
  if (low === Number.NEGATIVE_INFINITY) {
    return high >= reach ? { low: Math.max(1, unit), high: reach } : { low: high - reach, high };
  }
  return { low, high: Math.min(high, low + reach) };
}

/** Returns the next multiple, or the next number if multiples are closer than representable numbers. */
function above(bound: number, unit: number): number {
  const next = (Math.floor(bound / unit + 1e-9) + 1) * unit;
  return Number.isFinite(next) && next > bound ? next : bound + Math.abs(bound) * Number.EPSILON;
}

function commonMultiple(a: number, b: number): number {
  if (a === 0) return b;
  const whole = Number.isInteger(a) && Number.isInteger(b);
  return whole ? (a / divisor(a, b)) * b : Math.max(a, b);
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/** Removes the noise of binary fractions: 0.1 * 3 is 0.3. */
function rounded(value: number, unit: number): number {
  const digits = /e-(\d+)$/.exec(unit.toExponential())?.[1];
  return digits === undefined ? value : Number(value.toFixed(Math.min(100, Number(digits) + 6)));
}
