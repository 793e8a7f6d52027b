/** The process in which artifacts that come from elsewhere are unpacked and verified: large ones take seconds. */
import { type Artifact, ArtifactError, KeyError, type Manifest, readArtifact } from '@gw/gateway/artifact';
import { type ArtifactTool, listingOf, toolsOfArtifact, upstreamsOfArtifact } from '@gw/gateway/tool-listing';
import { answerTasks } from '../../task-process.ts';

export interface ArtifactTask {
  readonly bytes: Uint8Array;
  /** Whether to list its tools. */
  readonly tools: boolean;
}

/** Tools of an artifact; `enabled`: MCP is. */
export type ToolListing = ReturnType<typeof listingOf<ArtifactTool>> & { readonly enabled: boolean };

export type ArtifactReply =
  /** `tools`: null if they were not requested. */
  | { readonly ok: true; readonly manifest: Manifest; readonly tools: ToolListing | null }
  /** A one-line error. */
  | { readonly ok: false; readonly reason: string };

answerTasks<ArtifactTask, ArtifactReply>(verify);

/** Verifies as a gateway does; a signature must be by the key that the manifest names. */
async function verify({ bytes, tools }: ArtifactTask): Promise<ArtifactReply> {
  try {
    const artifact = await readArtifact(bytes);
    const { manifest } = artifact;
    const { signing_public_key: key, signature, manifest_signature } = manifest;
    if (key !== undefined) await readArtifact(bytes, { trustedKeys: [key] });
    else if (signature !== undefined || manifest_signature !== undefined) {
      return { ok: false, reason: 'it is signed, and does not name the key that it is signed by' };
    }
    return { ok: true, manifest, tools: tools ? toolListing(artifact) : null };
  } catch (error) {
    if (error instanceof KeyError)
      return { ok: false, reason: 'the key that it names as its signer is not an Ed25519 key' };
    if (!(error instanceof ArtifactError)) throw error;
    const isSignature = error.reason === 'signature';
    return { ok: false, reason: isSignature ? 'its signature is not by the key that it names' : error.message };
  }
}

function toolListing(artifact: Artifact): ToolListing {
  return { enabled: artifact.tools !== null, ...listingOf(toolsOfArtifact(artifact), upstreamsOfArtifact(artifact)) };
}
