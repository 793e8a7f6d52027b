/** Numbers of JSON texts (RFC 8259, section 6) as f64. */
import { Text } from "./text";

/** Digits that count: a 64-bit integer holds them. */
const MOST_DIGITS: i32 = 18;
/** Largest power of ten that is taken at once. */
const STEP: i32 = 300;

/**
 * The number that a text writes: exact for whole numbers up to 2^53 and for decimals of up to 15 digits with exponents
 * up to 22, else close to it.
 */
export function numberOf(value: Text): f64 {
  let at = 0;
  const negative = !value.isEmpty && value.byteAt(0) == 0x2d;
  if (negative) at++;
  let digits: i64 = 0;
  let count = 0;
  let scale: i32 = 0;
  let fraction = false;
  for (; at < value.length; at++) {
    const byte = value.byteAt(at);
    if (byte == 0x2e) fraction = true;
    else if (byte >= 0x30 && byte <= 0x39) {
      if (fraction) scale--;
      if (count < MOST_DIGITS) {
        digits = digits * 10 + <i64>(byte - 0x30);
        if (digits != 0) count++;
      } else scale++;
    } else break;
  }
  if (digits == 0) return negative ? -0.0 : 0;
  if (at < value.length && (value.byteAt(at) | 0x20) == 0x65) {
    let exponent: i32 = 0;
    let down = false;
    for (at++; at < value.length; at++) {
      const byte = value.byteAt(at);
      if (byte == 0x2d) down = true;
      else if (byte >= 0x30 && byte <= 0x39) exponent = min(exponent * 10 + <i32>(byte - 0x30), 100_000_000);
    }
    scale += down ? -exponent : exponent;
  }
  const result = scaled(<f64>digits, scale);
  return negative ? -result : result;
}

function scaled(digits: f64, scale: i32): f64 {
  let result = digits;
  let left = scale;
  while (left != 0 && result != 0 && result != Infinity) {
    const step = min(abs(left), STEP);
    let power: f64 = 1;
    for (let i = 0; i < step; i++) power *= 10;
    result = left < 0 ? result / power : result * power;
    left += left < 0 ? step : -step;
  }
  return result;
}
