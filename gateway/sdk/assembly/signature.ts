/** Signatures over bytes; declare `host_verify_signature`. For JSON Web Tokens use `Token`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * const key = text('{"kty": "oct", "k": "c2VjcmV0"}');
 * const signature = decodeBase64(text("aGVsbG8="));
 * const holds = signature !== null && Signature.holds(text("HS256"), key, Request.body(), signature);
 */
export namespace Signature {
  /**
   * Reports whether it is the signature of `data` by a public key in PEM; `alg`: RS256, RS384, RS512, ES256, ES384 or
   * ES512.
   */
  export function holds(alg: Text, key: Text, data: Text, signature: Text): bool {
    return (
      host.host_verify_signature(
        alg.ptr, alg.length, key.ptr, key.length, data.ptr, data.length, signature.ptr, signature.length,
      ) == 1
    );
  }
}
