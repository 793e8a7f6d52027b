/** Numbers of JSON by their decimal value (docs/decisions.md#numbers-are-decimal), whatever binary64 makes of them. */

/** `digits` times ten to the power of `exponent`; digits begin and end with no zero, and are empty for zero. */
export interface Decimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

const NUMBER = /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+))?$/;
/** Largest exponent; larger ones count as this: no text is long enough to tell such numbers apart by their digits. */
const FARTHEST = 1e15;

/** Reads a number as JSON, JavaScript or YAML writes it in decimal; returns null if the text is malformed. */
export function readDecimal(text: string): Decimal | null {
  const [, sign, whole = '', fraction = '', written = '0'] = NUMBER.exec(text) ?? [];
  if (sign === undefined || whole + fraction === '') return null;
  const all = whole + fraction;
  const from = firstOther(all);
  const to = endWithoutZeros(all);
  if (from >= to) return { isNegative: false, digits: '', exponent: 0 };
  const power = Math.max(-FARTHEST, Math.min(FARTHEST, Number(written)));
  const exponent = power - fraction.length + all.length - to;
  return { isNegative: sign === '-', digits: all.slice(from, to), exponent };
}

const ZERO = 0x30;

function firstOther(digits: string): number {
  let from = 0;
  while (digits.charCodeAt(from) === ZERO) from++;
  return from;
}

function endWithoutZeros(digits: string): number {
  let to = digits.length;
  while (to > 0 && digits.charCodeAt(to - 1) === ZERO) to--;
  return to;
}

/** Equal values have equal texts. */
export function decimalText({ isNegative, digits, exponent }: Decimal): string {
  return digits === '' ? '0' : `${isNegative ? '-' : ''}${digits}e${exponent}`;
}

/** Below zero if the first is less, above if it is more. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  const [sign, otherSign] = [signOf(one), signOf(other)];
  return sign === otherSign ? sign * compareSizes(one, other) : sign - otherSign;
}

function signOf({ isNegative, digits }: Decimal): -1 | 0 | 1 {
  if (digits === '') return 0;
  return isNegative ? -1 : 1;
}

function compareSizes(one: Decimal, other: Decimal): number {
  const places = one.digits.length + one.exponent - other.digits.length - other.exponent;
  if (places !== 0) return places;
  if (one.digits === other.digits) return 0;
  return one.digits < other.digits ? -1 : 1;
}

export function isWhole({ digits, exponent }: Decimal): boolean {
  return digits === '' || exponent >= 0;
}

/** Digits that are divided at once. */
const CHUNK = 15;

/**
 * Reports whether the first divided by the other is an integer. Takes time that grows with the digits, not with the
 * exponent.
 */
export function isDecimalMultiple(one: Decimal, divisor: Decimal): boolean {
  if (one.digits === '') return true;
  // Its last digit is not zero, so neither it nor a divisor of it is a multiple of ten.
  if (divisor.digits === '' || one.exponent < divisor.exponent) return false;
  const by = BigInt(divisor.digits);
  let rest = 0n;
  for (let at = 0; at < one.digits.length; at += CHUNK) {
    const chunk = one.digits.slice(at, at + CHUNK);
    rest = (rest * 10n ** BigInt(chunk.length) + BigInt(chunk)) % by;
  }
  return (rest * powerOfTen(one.exponent - divisor.exponent, by)) % by === 0n;
}

/** The remainder of ten to the power of so many, divided by `by`. */
function powerOfTen(exponent: number, by: bigint): bigint {
  let result = 1n % by;
  let square = 10n % by;
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = (result * square) % by;
    square = (square * square) % by;
  }
  return result;
}
