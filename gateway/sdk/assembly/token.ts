/** Bearer tokens, verified by the host; declare `host_token_open` and `host_token_verify`. */
import * as host from "./host";
import { EMPTY, ROOM, Text, text } from "./text";

/** The token holds: its claims can be read. */
export const TOKEN_HOLDS: i32 = 0;
/** It does not: `Token.refusal` says why. */
export const TOKEN_REFUSED: i32 = 1;
/** The token cannot be checked: the issuer is unavailable. */
export const TOKEN_UNAVAILABLE: i32 = 2;

/**
 * @example
 * const verifier = Token.open('{"jwks_url": {"$config": "/jwks_url"}}'); // in init
 * const bearer = Bearer.token();
 * if (bearer && Token.verify(verifier, bearer) == TOKEN_HOLDS) Identity.consumer(Token.claim(text("/sub")));
 */
export namespace Token {
  /** In `init`: a verifier by rules in JSON (ABI.md), in which `{"$config": "/pointer"}` stands for a value of the config. */
  export function open(rules: string): i32 {
    const json = text(rules);
    return host.host_token_open(json.ptr, json.length);
  }

  /** Verifies; waits if the issuer has to be asked. */
  export function verify(verifier: i32, token: Text): i32 {
    return host.host_token_verify(verifier, token.ptr, token.length);
  }

  /** Returns why the last token does not hold, for the client. */
  export function refusal(): Text {
    const ptr = heap.alloc(ROOM);
    const length = host.token_refusal_get(ptr, ROOM);
    return length < 0 || length > ROOM ? EMPTY : new Text(ptr, length);
  }

  /** The claim at a JSON pointer of the last token that holds: strings as they are, all else as JSON text. */
  export function claim(pointer: Text): Text | null {
    let ptr = heap.alloc(ROOM);
    const length = host.token_claim_get(pointer.ptr, pointer.length, ptr, ROOM);
    if (length < 0) return null;
    if (length > ROOM) {
      ptr = heap.alloc(length);
      host.token_claim_get(pointer.ptr, pointer.length, ptr, length);
    }
    return new Text(ptr, length);
  }

  /** Elements of an array, or members of an object, among the claims; -1 for others. */
  export function count(pointer: Text): i32 {
    return host.token_claim_count(pointer.ptr, pointer.length);
  }
}
