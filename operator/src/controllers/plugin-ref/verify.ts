/** Checks whether one of the keys of a PluginRef's `verify` has signed the content of its source. */

import { type Read, refuse } from '../../api/refusal.ts';
import type { PluginRef } from '../../api/resources.ts';
import type { Objects } from '../../runtime/objects.ts';
import { readSecret, refusing } from '../../sources/read-source.ts';
import { imageSignerOf, parseKeys, type SigningKey, signatureText, signerOf } from '../../sources/signature.ts';
import type { ImageSignature } from '../../sources/source.ts';

/** The content to verify. `unsigned`: why there is no signature. */
export type Signed =
  | {
      readonly bytes: Uint8Array;
      readonly signature?: string;
      /** The signature file from a key. */
      readonly file?: Uint8Array | undefined;
      readonly unsigned?: string;
    }
  | { readonly digest: string; readonly signatures: readonly ImageSignature[]; readonly unsigned?: string };

/** Returns the key that signed the content; a refusal with the reason if no key did. */
export function signedBy(
  objects: Objects,
  ref: PluginRef,
  signed: Signed,
): Promise<Read<{ readonly key: SigningKey }>> {
  return refusing(async () => {
    const keys = await readKeys(objects, ref);
    if (!keys.ok) return keys;
    const given = ref.spec.verify?.signature;
    if ('digest' in signed) {
      if (given !== undefined)
        return refuse('InvalidSpec', 'spec.verify.signature: not for images, whose signatures are stored beside them');
      const signer = imageSignerOf(keys.keys, signed.digest, signed.signatures);
      if (signer) return { ok: true, key: signer };
      const none = `none of the ${signed.signatures.length} signature(s) of ${signed.digest} was made with a key of spec.verify`;
      return refuse('SignatureInvalid', signed.unsigned ?? none);
    }
    const signature = given ?? signed.signature ?? (signed.file && signatureText(signed.file));
    if (signature === undefined) return refuse('SignatureInvalid', signed.unsigned ?? 'there is no signature');
    const signer = signerOf(keys.keys, signed.bytes, signature);
    return signer
      ? { ok: true, key: signer }
      : refuse('SignatureInvalid', 'the signature was not made with a key of spec.verify, or not for this content');
  });
}

/** Rejects with SourceError. */
async function readKeys(
  objects: Objects,
  { metadata, spec: { verify } }: PluginRef,
): Promise<Read<{ readonly keys: readonly SigningKey[] }>> {
  const keys = (verify?.keys ?? []).flatMap((key, i) => parseKeys(key, `spec.verify.keys[${i}]`));
  const secret = verify?.keySecret;
  if (secret) {
    const read = await readSecret(objects, metadata.namespace ?? 'default', secret.name);
    if (!read.ok) return read;
    const bytes = read.entries.get(secret.key);
    if (!bytes) return refuse('SourceNotFound', `Secret "${secret.name}" has no key "${secret.key}"`);
    keys.push(...parseKeys(Buffer.from(bytes).toString('utf8'), `key "${secret.key}" of Secret "${secret.name}"`));
  }
  return keys.length > 0 ? { ok: true, keys } : refuse('InvalidSpec', 'spec.verify: keys or keySecret must be set');
}
