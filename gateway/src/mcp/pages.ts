/** Pages of a list in the order of its keys. A cursor is the last key of a page, so that it holds for lists to come. */

/** Largest page, in bytes of its entries: one page holds all of most lists, and clients need not hold too much. */
const PAGE_BYTES = 1_000_000;
/** Characters. */
const LONGEST_CURSOR = 8_192;

export interface Page {
  readonly keys: readonly string[];
  readonly nextCursor?: string;
}

export interface PageLimits {
  /** Entries on one page; 0: up to 1 MB of them. */
  readonly size: number;
  /** JSON of an entry. */
  readonly text: (key: string) => string;
}

/** `keys`: in order. Returns null if the cursor is malformed. */
export function pageOf(keys: readonly string[], cursor: string | undefined, { size, text }: PageLimits): Page | null {
  const after = cursor === undefined ? '' : keyOf(cursor);
  if (after === null) return null;
  const begin = keys.findIndex((key) => key > after);
  const wanted = begin < 0 ? [] : keys.slice(begin, size === 0 ? undefined : begin + size);
  let bytes = 0;
  const over = wanted.findIndex((key) => {
    bytes += Buffer.byteLength(text(key)) + 1;
    return bytes > PAGE_BYTES;
  });
  // One that is larger by itself has a page of its own.
  const found = over < 0 ? wanted : wanted.slice(0, Math.max(1, over));
  const last = found.at(-1);
  const goesOn = last !== undefined && last !== keys.at(-1);
  return { keys: found, ...(goesOn ? { nextCursor: Buffer.from(last).toString('base64url') } : {}) };
}

/** Returns null if the cursor is malformed. */
function keyOf(cursor: string): string | null {
  if (cursor.length > LONGEST_CURSOR) return null;
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  return key !== '' && Buffer.from(key).toString('base64url') === cursor ? key : null;
}
