/** Pages of a list in the order of its keys. A cursor is the last key of a page, so that it holds for lists to come. */

/** Entries on one page. */
const PAGE = 100;
/** Characters. */
const LONGEST_CURSOR = 8_192;

export interface Page {
  readonly keys: readonly string[];
  readonly nextCursor?: string;
}

/** `keys`: in order. Null where the cursor is none of ours. */
export function pageOf(keys: readonly string[], cursor: string | undefined): Page | null {
  const after = cursor === undefined ? '' : keyOf(cursor);
  if (after === null) return null;
  const begin = keys.findIndex((key) => key > after);
  const found = begin < 0 ? [] : keys.slice(begin, begin + PAGE);
  const last = found.at(-1);
  const goesOn = last !== undefined && last !== keys.at(-1);
  return { keys: found, ...(goesOn ? { nextCursor: Buffer.from(last).toString('base64url') } : {}) };
}

/** Null where it is no cursor. */
function keyOf(cursor: string): string | null {
  if (cursor.length > LONGEST_CURSOR) return null;
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  return key !== '' && Buffer.from(key).toString('base64url') === cursor ? key : null;
}
