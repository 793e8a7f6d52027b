/** The claims of a token that holds, as plugins read them: by JSON pointer (RFC 6901). */
import { type Obj, valueAt } from '../../../kit.ts';

export class TokenClaims {
  readonly #claims: Obj;
  /** Texts of claims found so far: the same plugins ask for the same claims each time. */
  readonly #texts = new Map<string, string>();

  constructor(claims: Obj) {
    this.#claims = claims;
  }

  /**
   * Returns strings as they are, all else as JSON text in ASCII; undefined if the claim is absent or null. The empty
   * pointer: all claims.
   */
  text(pointer: string): string | undefined {
    const known = this.#texts.get(pointer);
    if (known !== undefined) return known;
    const value = valueAt(this.#claims, pointer);
    if (value === undefined || value === null) return undefined;
    const text = typeof value === 'string' ? value : asciiJson(value);
    this.#texts.set(pointer, text);
    return text;
  }

  /** Elements of an array or members of an object, -1 for others. */
  count(pointer: string): number {
    const value = valueAt(this.#claims, pointer);
    if (typeof value !== 'object' || value === null) return -1;
    return Array.isArray(value) ? value.length : Object.keys(value).length;
  }
}

/**
 * Returns JSON with escapes beyond ASCII: as a header it is still JSON, and needs no encoding of its own
 * (docs/decisions.md#identity-headers).
 */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
