/** `host_verify_signature`: signatures over bytes, for plugins that speak a protocol of their own. */
import { type KeyObject, verify } from 'node:crypto';
import { capability, HostCallError } from '../../../kit.ts';
import { isAlgorithm } from '../tokens/jws.ts';
import { algorithmsOf, KeyError, publicKey } from '../tokens/public-key.ts';

const VALID = 1;
const NOT_VALID = 0;
/** Cost of a signature, in instructions: it blocks the event loop meanwhile. */
const SIGNATURE = 50_000;
const MAX_KEY = 16_384;

/** Keys as they were read; plugins use few. */
const known = new Map<string, KeyObject>();
const MOST_KNOWN = 100;

export const signatures = capability({
  functions: {
    host_verify_signature: {
      signature: 'iiiiiiii:i',
      parameters: '(alg, len, key, len, data, len, signature, len) -> valid',
      meaning:
        "1 if `signature` (in JWS form: for ES*, the two numbers one after the other) is a signature of `data` by `key`, a public key in PEM, otherwise 0; `alg` is RS256, RS384, RS512, ES256, ES384 or ES512, and must match the key's type",
      declared: true,
      make: (call) => (algorithm, algorithmLength, key, keyLength, data, dataLength, signature, signatureLength) => {
        const { memory } = call;
        call.burn(SIGNATURE);
        call.charge(keyLength + dataLength + signatureLength);
        const alg = memory.text(algorithm, algorithmLength);
        if (!isAlgorithm(alg)) throw new HostCallError(`host_verify_signature: "${alg}" is not a known algorithm`);
        if (keyLength >>> 0 > MAX_KEY) throw new HostCallError('host_verify_signature: the key is too long');
        const found = keyOf(memory.text(key, keyLength));
        if (!algorithmsOf(found)?.has(alg))
          throw new HostCallError(`host_verify_signature: the key is not one for ${alg}`);
        const options = { key: found, dsaEncoding: 'ieee-p1363' } as const;
        const holds = verify(
          `sha${alg.slice(2)}`,
          memory.copy(data, dataLength),
          options,
          memory.copy(signature, signatureLength),
        );
        return holds ? VALID : NOT_VALID;
      },
    },
  },
});

function keyOf(pem: string): KeyObject {
  const before = known.get(pem);
  if (before) return before;
  try {
    const key = publicKey(pem);
    if (known.size < MOST_KNOWN) known.set(pem, key);
    return key;
  } catch (error) {
    if (error instanceof KeyError) throw new HostCallError(`host_verify_signature: ${error.message}`);
    throw error;
  }
}
