/** The volume with the artifact that a pod starts with (design section 6). */
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import { partName } from './artifact-parts.ts';

export const ARTIFACT_DIR = '/artifact';
export const ARTIFACT_VOLUME = 'artifact';

/** What a pod needs to find the artifact at ARTIFACT_DIR. */
export interface ArtifactSource {
  readonly volumes: readonly object[];
  readonly volumeMounts: readonly object[];
  /** Before the gateway starts, in this order. */
  readonly initContainers: readonly object[];
}

export function artifactSource(project: GatewayProject, revision: Revision): ArtifactSource {
  const parts = Array.from({ length: revision.parts ?? 0 }, (_, index) => partName(project, revision.archive, index));
  // One folder out of all parts (D29).
  const sources = parts.map((name) => ({ configMap: { name } }));
  return {
    volumes: [{ name: ARTIFACT_VOLUME, projected: { defaultMode: 0o444, sources } }],
    volumeMounts: [{ name: ARTIFACT_VOLUME, mountPath: ARTIFACT_DIR, readOnly: true }],
    initContainers: [],
  };
}
