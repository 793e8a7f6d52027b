/** The thread in which artifacts that come from elsewhere are unpacked and verified: large ones take seconds. */
import { ArtifactError, KeyError, type Manifest, readArtifact } from '@gw/gateway/artifact';
import { answerTasks } from '../../worker-thread.ts';

export interface ArtifactTask {
  readonly bytes: Uint8Array;
}

export type ArtifactReply =
  | { readonly ok: true; readonly manifest: Manifest }
  /** One line that says what is wrong. */
  | { readonly ok: false; readonly reason: string };

answerTasks<ArtifactTask, ArtifactReply>(async ({ bytes }) => ({ result: await verify(bytes) }));

/** As a gateway reads it; a signature must be by the key that the manifest names. */
async function verify(bytes: Uint8Array): Promise<ArtifactReply> {
  try {
    const { manifest } = await readArtifact(bytes);
    const { signing_public_key: key, signature, manifest_signature } = manifest;
    if (key !== undefined) await readArtifact(bytes, { trustedKeys: [key] });
    else if (signature !== undefined || manifest_signature !== undefined) {
      return { ok: false, reason: 'it is signed, and does not name the key that it is signed by' };
    }
    return { ok: true, manifest };
  } catch (error) {
    if (error instanceof KeyError)
      return { ok: false, reason: 'the key that it names as its signer is no Ed25519 key' };
    if (!(error instanceof ArtifactError)) throw error;
    const isSignature = error.reason === 'signature';
    return { ok: false, reason: isSignature ? 'its signature is not by the key that it names' : error.message };
  }
}
