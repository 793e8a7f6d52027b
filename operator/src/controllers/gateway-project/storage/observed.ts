/** Input of the decision about a project's stored artifacts. */
import type { GatewayProject, Workload } from '../../../api/resources.ts';
import type { KubeObject } from '../../../kube/kube-object.ts';
import type { ImageState } from '../../../storage/image-store.ts';

export interface ObservedStorage {
  readonly project: GatewayProject;
  /** Public key of the signing key, in hex. */
  readonly signedBy?: string;
  /** Metadata of the ConfigMaps that hold artifacts. */
  readonly parts: readonly KubeObject[];
  /** State of the registry that stores artifacts, if there is one. */
  readonly registry?: RegistryView;
  /** The content of ConfigMaps is not limited: local mode. */
  readonly unlimited?: true;
  readonly workload?: Workload;
}

export interface RegistryView {
  /** Whether the cluster mounts images as volumes. */
  readonly imageVolumes: boolean;
  /** How the artifact that was compiled stands there; absent: it does not belong there, or is recorded. */
  readonly image?: ImageState;
  /** Images that are not there any more, though recorded: REGISTRY/REPOSITORY@DIGEST. */
  readonly missing: ReadonlySet<string>;
  /** Milliseconds after which to check again. */
  readonly requeueAfterMs?: number;
}
