/** Which responses of one URL are stored, the oldest first, as it stands in the store. */

export interface StoredKey {
  /**
   * Key that a request looks up first: of the response, or of the note that there are several by headers that `Vary`
   * names.
   */
  readonly first: string;
  /** Key of the response. */
  readonly key: string;
}

export function encodeStoredKeys(keys: readonly StoredKey[]): Buffer {
  return Buffer.from(JSON.stringify(keys.map(({ first, key }) => [first, key.slice(first.length)])));
}

/** Returns an empty list for malformed bytes. */
export function decodeStoredKeys(bytes: Uint8Array | null): StoredKey[] {
  if (bytes === null) return [];
  try {
    const list: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (!Array.isArray(list)) return [];
    return list.flatMap((entry: unknown) => {
      const [first, rest]: readonly unknown[] = Array.isArray(entry) ? entry : [];
      return typeof first === 'string' && typeof rest === 'string' ? [{ first, key: first + rest }] : [];
    });
  } catch {
    return [];
  }
}
