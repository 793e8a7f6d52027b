/**
 * Types of returned values, the same for PostgreSQL and PGlite: `bigint` as a number if that is exact (else as a
 * BigInt), `timestamptz` as Date, `jsonb` parsed, `bytea` as Buffer, `numeric` as a string.
 */
import { type CustomTypesConfig, types } from 'pg';

const INT8 = 20;
const INT8_ARRAY = 1016;
const TEXT_ARRAY: number = 1009;

function integer(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

const parseTextArray: (text: string) => (string | null)[] = types.getTypeParser(TEXT_ARRAY);

function integers(text: string): (number | bigint | null)[] {
  return parseTextArray(text).map((item) => (item === null ? null : integer(item)));
}

/** For one pool: other users of `pg` in the process keep their own. */
export const valueTypes: CustomTypesConfig = {
  getTypeParser(id: number, format?: 'text' | 'binary') {
    if (id === INT8 && format !== 'binary') return integer;
    if (id === INT8_ARRAY && format !== 'binary') return integers;
    return types.getTypeParser(id, format === 'binary' ? 'binary' : 'text');
  },
};
