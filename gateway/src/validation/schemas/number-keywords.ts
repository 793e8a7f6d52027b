/**
 * Keywords that compare numbers (JSON Schema 2020-12, sections 6.1.3 and 6.2), by decimal value. They replace Ajv's,
 * which compare in binary: 19.99 would not be a multiple of 0.01 (docs/decisions.md#numbers-are-decimal).
 */
import { _, type Ajv2020, type Code, type KeywordCxt } from 'ajv/dist/2020.js';
import { compareDecimals, type Decimal, isDecimalMultiple, readDecimal } from '../../json/decimal.ts';
import { comparable, decimalOf, HUGE, TINY } from '../../json/stand-ins.ts';
import { writtenText, writtenValue } from './keyword-text.ts';

/** Reports whether a value divided by another, both as they are written in decimal, is an integer. */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  return isDecimalMultiple(decimalOf(value), decimalOf(divisor));
}

/** Relation of a value to a limit, as Ajv says it; `fails`: by the order of the two. */
const LIMITS = {
  maximum: { sign: '<=', operator: _`>`, fails: (order: number) => order > 0 },
  minimum: { sign: '>=', operator: _`<`, fails: (order: number) => order < 0 },
  exclusiveMaximum: { sign: '<', operator: _`>=`, fails: (order: number) => order >= 0 },
  exclusiveMinimum: { sign: '>', operator: _`<=`, fails: (order: number) => order <= 0 },
} as const;

interface Keyword {
  readonly keyword: string;
  readonly schema: unknown;
  readonly parentSchema?: unknown;
}

/** The number of the keyword; `text` as it was written. */
function operandOf({ schema, parentSchema, keyword }: Keyword): {
  readonly text: string;
  readonly decimal: Decimal;
} {
  const text = writtenText(parentSchema, keyword) ?? String(schema);
  return { text, decimal: readDecimal(text) ?? decimalOf(Number(schema)) };
}

const isDecimalOnly = ({ data }: KeywordCxt): Code => _`${data} >= ${HUGE} || (${data} < ${TINY} && ${data} > 0)`;

/** Puts the keywords in place of Ajv's, with its errors. */
export function addNumberKeywords(ajv: Ajv2020): void {
  for (const [keyword, { sign, operator, fails }] of Object.entries(LIMITS)) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: 'number',
      schemaType: 'number',
      error: {
        message: (cxt) => _`${`must be ${sign} ${operandOf(cxt).text}`}`,
        params: ({ schemaCode }) => _`{comparison: ${sign}, limit: ${schemaCode}}`,
      },
      code: (cxt: KeywordCxt) => {
        const { decimal } = operandOf(cxt);
        const { gen, data, schema, parentSchema } = cxt;
        const failsIt = (value: number) => fails(compareDecimals(decimalOf(value), decimal));
        const test = gen.scopeValue('func', { ref: failsIt });
        if (writtenText(parentSchema, keyword) !== undefined) return cxt.fail(_`${test}(${data})`);
        return cxt.fail(_`${isDecimalOnly(cxt)} ? ${test}(${data}) : ${data} ${operator} ${schema}`);
      },
    });
  }
  addMultipleOf(ajv);
  addConst(ajv);
}

export function addMultipleOf(ajv: Ajv2020): void {
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: {
      message: (cxt) => _`${`must be multiple of ${operandOf(cxt).text}`}`,
      params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
    },
    code: (cxt: KeywordCxt) => {
      const { decimal } = operandOf(cxt);
      const isWritten = writtenText(cxt.parentSchema, 'multipleOf') !== undefined;
      const divisor = Number(cxt.schema);
      const holds = (value: number) =>
        isWritten ? isDecimalMultiple(decimalOf(value), decimal) : isMultipleOf(value, divisor);
      const test = cxt.gen.scopeValue('func', { ref: holds });
      cxt.pass(_`${test}(${cxt.data})`);
    },
  });
}

/** Ajv's own, but for a constant that has numbers which JavaScript cannot hold. */
function addConst(ajv: Ajv2020): void {
  const theirs = ajv.getKeyword('const');
  if (typeof theirs !== 'object' || !('code' in theirs)) throw new Error('Ajv has no keyword "const"');
  ajv.removeKeyword('const');
  ajv.addKeyword({
    ...theirs,
    keyword: 'const',
    code: (cxt: KeywordCxt) => {
      const constant = writtenValue(cxt.parentSchema, 'const');
      if (constant === undefined) return theirs.code(cxt);
      const wanted = comparable(constant);
      const test = cxt.gen.scopeValue('func', { ref: (value: unknown) => comparable(value) === wanted });
      return cxt.pass(_`${test}(${cxt.data})`);
    },
  });
}
