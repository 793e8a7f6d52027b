/** Reads everything that a GatewayProject's reconcile looks at. */

import {
  configMaps,
  type Deployment,
  deployments,
  type GatewayProject,
  gatewayProjects,
  pods,
  type Workload,
  workloads,
} from '../../api/resources.ts';
import { canaryName, gatewayName, LABEL_PART, LABEL_PROJECT, podLabels } from '../../objects/names.ts';
import { DEFAULT_POD_POLICY, type PodPolicy } from '../../objects/pod-policy.ts';
import { usedSecrets } from '../../objects/used-secrets.ts';
import { controlledBy, type KubeObject, type ObjectKey } from '../../runtime/kube-object.ts';
import { ungranted } from '../../secrets/grants.ts';
import type { SidecarCensus, SidecarPods } from '../../sidecar/census.ts';
import type { ImageState } from '../../storage/image-store.ts';
import type { Refusal } from '../source.ts';
import type { ObservedControlPlane } from './control-plane.ts';
import type { Sources } from './gather.ts';
import { type ObserveControlPlaneWith, observeControlPlane } from './observe-control-plane.ts';
import { type OwnedObjects, readOwned } from './owned-objects.ts';
import { type PodSecrets, readPodSecrets } from './pod-secrets.ts';
import { type PodState, type ProvenanceProbe, podState } from './pod-state.ts';
import { type ReadSourcesWith, readSources } from './read-sources.ts';
import type { AnalysisResult } from './rollout/analysis.ts';
import { type ObserveRolloutWith, observeRollout, type PodRefusal } from './rollout/observe-rollout.ts';
import { readRouted } from './routed.ts';
import { readSigningKeys } from './signing-keys.ts';
import type { Turn } from './update-pace.ts';

export interface Observed extends OwnedObjects {
  readonly project: GatewayProject;
  readonly sources: Sources;
  /** Public keys in hex that pods shall trust. */
  readonly trustedKeys: readonly string[];
  /** Trusted keys that are named and cannot be had. */
  readonly keyProblems: readonly Refusal[];
  /** Public key of the signing key, in hex. */
  readonly signedBy?: string;
  /** The Deployments of this project. */
  readonly deployments: readonly Deployment[];
  /** Metadata of the ConfigMaps that hold artifacts. */
  readonly parts: readonly KubeObject[];
  /** What is known of the registry that artifacts lie in, where any lie in one. */
  readonly registry?: RegistryView;
  /** Nothing limits what ConfigMaps hold: local mode. */
  readonly unlimited?: true;
  /** The control plane that the project names. */
  readonly controlPlane?: ObservedControlPlane;
  readonly workload?: Workload;
  /** The workload of a canary. */
  readonly canary?: Workload;
  readonly secrets: PodSecrets;
  readonly pods: readonly PodState[];
  /** Names of the pods that new connections to the Service reach; absent where nothing says so. */
  readonly routed?: ReadonlySet<string>;
  /** Pods that have refused artifacts over the link. */
  readonly refusals: readonly PodRefusal[];
  /** What is measured of the canary's step. */
  readonly analysis?: AnalysisResult;
  /** What the link knows of sidecars. */
  readonly sidecars?: NonNullable<GatewayProject['status']>['sidecars'];
  /** Pods that have sidecars, or ask for them. */
  readonly injection?: SidecarPods;
  /** Why webhooks may not be asked. */
  readonly webhookDrift?: string;
  /** Whether pods that are as an operator before made them may be replaced now; absent: not known, so not yet. */
  readonly turn?: Turn;
}

export interface RegistryView {
  /** Whether the cluster mounts images as volumes. */
  readonly imageVolumes: boolean;
  /** How the artifact that was compiled stands there; absent: it does not belong there, or is recorded. */
  readonly image?: ImageState;
  /** Images that are not there any more, though recorded: REGISTRY/REPOSITORY@DIGEST. */
  readonly missing: ReadonlySet<string>;
  /** Milliseconds after which to look again. */
  readonly again?: number;
}

export interface ObserveWith extends ReadSourcesWith, ObserveRolloutWith, ObserveControlPlaneWith {
  readonly probe: ProvenanceProbe;
  /** What pods and Secrets of projects may be. Default: DEFAULT_POD_POLICY. */
  readonly policy?: PodPolicy;
  /** Why webhooks may not be asked; absent where there are none. */
  readonly webhookDrift?: () => string | undefined;
  /** Absent where there are no sidecars. */
  readonly census?: Pick<SidecarCensus, 'of' | 'onChange'>;
}

/** Undefined when the project is gone, or going. */
export async function observe(using: ObserveWith, key: ObjectKey): Promise<Observed | undefined> {
  const { objects, probe, policy = DEFAULT_POD_POLICY } = using;
  const project = await objects.get(gatewayProjects, key);
  if (!project || project.metadata.deletionTimestamp) return undefined;
  const { namespace } = key;
  const refused = policy.secretGrants ? await ungranted(objects, project, usedSecrets(project)) : [];
  const keys = await readSigningKeys(objects, project, new Set(refused.map(({ name }) => name)));
  const sources = {
    ...(await readSources(using, project)),
    ...(keys.signing ? { signingKey: keys.signing } : {}),
    refused: refused.filter(({ field }) => isForCompiling(field)),
  };
  const mine = { namespace, labels: { [LABEL_PROJECT]: project.metadata.name } };
  // By label: what is not ours is of no interest here, and what is not there need not be asked for by name.
  const running = await objects.list(workloads, mine);
  const workload = running.find(({ metadata }) => metadata.name === gatewayName(project));
  const canary = running.find(({ metadata }) => metadata.name === canaryName(project));
  const found = await objects.list(pods, { namespace, labels: podLabels(project) });
  const parts = (await objects.listMetadata(configMaps, mine)).filter(
    (part) => part.metadata.labels?.[LABEL_PART] !== undefined,
  );
  const injection = using.census?.of(key);
  const webhookDrift = using.webhookDrift?.();
  const signedBy = keys.signing?.ok ? keys.signing.publicKey : undefined;
  return {
    project,
    sources,
    trustedKeys: keys.trusted,
    keyProblems: keys.problems,
    ...(signedBy ? { signedBy } : {}),
    deployments: (await objects.list(deployments, { namespace })).filter(
      (deployment) => deployment.spec.project === project.metadata.name,
    ),
    parts,
    ...(workload && controlledBy(workload, project) ? { workload } : {}),
    ...(await readOwned(objects, project)),
    secrets: await readPodSecrets(objects, project, policy, refused),
    ...(canary && controlledBy(canary, project) ? { canary } : {}),
    ...(await observeControlPlane(using, project, refused)),
    pods: await Promise.all(found.map((pod) => podState(pod, probe))),
    ...(await readRouted(objects, mine)),
    ...(await observeRollout(using, project, found)),
    ...(injection ? { injection } : {}),
    ...(webhookDrift === undefined ? {} : { webhookDrift }),
  };
}

/** Without these Secrets nothing is compiled or stored; without the others pods are left as they are. */
function isForCompiling(field: string): boolean {
  return field.startsWith('spec.signing.') || field.startsWith('spec.storage.');
}
