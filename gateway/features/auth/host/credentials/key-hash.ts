/** Hashed API keys in config: `sha256:<hex>`. Keys are made at random, so that a quick hash keeps them as well as a slow one. */

const KEY_HASH = /^sha256:([0-9a-fA-F]{64})$/;

/** Reports whether a config value is a hash, and no key in plain text (E1070). */
export function isKeyHash(text: string): boolean {
  return KEY_HASH.test(text);
}

/** Returns the SHA-256 in hex; null if the text is not a hash. */
export function hashedKey(text: string): string | null {
  return KEY_HASH.exec(text)?.[1]?.toLowerCase() ?? null;
}
