/** Which responses of one URL are stored, the oldest first, as it stands in the store. */
import { NOBODY, type OwnerPath, SharedMap } from '../../kit.ts';

export interface StoredKey {
  /**
   * Key that a request looks up first: of the response, or of the note that there are several by headers that `Vary`
   * names.
   */
  readonly first: string;
  /** Key of the response. */
  readonly key: string;
  /** Client that the response was stored for. */
  readonly owner: OwnerPath;
}

/**
 * Adds a response, which keeps the owner that it had. Past `most`, the client that has most loses its oldest; returns
 * the list that remains, and what has gone.
 */
export function withStoredKey(before: readonly StoredKey[], added: StoredKey, most: number) {
  const gone: StoredKey[] = [];
  const list = new SharedMap<StoredKey>({ most, gone: (_key, stored) => gone.push(stored) });
  for (const each of before) list.set(each.key, each, each.owner);
  const owner = list.get(added.key)?.owner ?? added.owner;
  list.set(added.key, { ...added, owner }, owner);
  return { list: [...list].map(([, stored]) => stored), gone };
}

export function encodeStoredKeys(keys: readonly StoredKey[]): Buffer {
  return Buffer.from(JSON.stringify(keys.map(({ first, key, owner }) => [first, key.slice(first.length), owner])));
}

/** Returns an empty list for malformed bytes. */
export function decodeStoredKeys(bytes: Uint8Array | null): StoredKey[] {
  if (bytes === null) return [];
  try {
    const list: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (!Array.isArray(list)) return [];
    return list.flatMap((entry: unknown) => {
      const [first, rest, owner]: readonly unknown[] = Array.isArray(entry) ? entry : [];
      if (typeof first !== 'string' || typeof rest !== 'string') return [];
      return [{ first, key: first + rest, owner: isPath(owner) ? owner : NOBODY }];
    });
  } catch {
    return [];
  }
}

function isPath(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
}
