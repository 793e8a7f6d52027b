/** The desired artifact, and its notice to a data plane. */
import type { Notice } from '@gw/gateway/link-protocol';
import type { DataPlane, DesiredArtifact } from './ports.ts';

/**
 * Reports whether it reads the artifact's format: otherwise it is not notified, and keeps its artifact
 * (docs/decisions.md#version-skew).
 */
export function reads({ artifactVersions }: DataPlane, { artifact_version }: DesiredArtifact): boolean {
  return artifact_version === undefined || artifactVersions.includes(artifact_version);
}

/** Returns the notice without members for the channel alone. */
export function noticeOf({ artifact_version: _, ...notice }: DesiredArtifact): Notice {
  return notice;
}

export function isSame(one: DesiredArtifact | null, other: DesiredArtifact | null): boolean {
  return (
    one?.artifact_id === other?.artifact_id &&
    one?.artifact_hash === other?.artifact_hash &&
    one?.deployment_id === other?.deployment_id
  );
}
