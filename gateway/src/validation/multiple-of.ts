/**
 * `multipleOf` (JSON Schema 2020-12, section 6.2.1), of decimal values. Ours, since Ajv's divides in binary, where 19.99
 * is no multiple of 0.01 (docs/decisions.md#numbers-are-decimal).
 */
import { _, type Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js';

interface Decimal {
  readonly digits: bigint;
  /** Digits behind the point; below zero for zeros before it. */
  readonly scale: number;
}

function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length - Number(exponent) };
}

/** Whether a value divided by another, both as they are written in decimal, is an integer. */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  const [one, other] = [decimalOf(value), decimalOf(divisor)];
  const scale = Math.max(one.scale, other.scale);
  const scaled = ({ digits, scale: own }: Decimal) => digits * 10n ** BigInt(scale - own);
  return scaled(one) % scaled(other) === 0n;
}

/** Puts the keyword in place of Ajv's, with its errors. */
export function addMultipleOf(ajv: Ajv2020): void {
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: {
      message: ({ schemaCode }) => _`"must be multiple of " + ${schemaCode}`,
      params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
    },
    code: (cxt: KeywordCxt) => {
      const test = cxt.gen.scopeValue('func', { ref: isMultipleOf });
      cxt.pass(_`${test}(${cxt.data}, ${cxt.schemaCode})`);
    },
  });
}
