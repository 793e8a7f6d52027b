/** Reads the input of a GatewayProject's reconcile. */

import type { Refusal } from '../../api/refusal.ts';
import {
  configMaps,
  type Deployment,
  deployments,
  gatewayProjects,
  pods,
  type Workload,
  workloads,
} from '../../api/resources.ts';
import { controlledBy, type ObjectKey } from '../../kube/kube-object.ts';
import { canaryName, gatewayName, LABEL_PART, LABEL_PROJECT, podLabels } from '../../objects/names.ts';
import { DEFAULT_POD_POLICY, type PodPolicy } from '../../objects/pod-policy.ts';
import { usedSecrets } from '../../objects/used-secrets.ts';
import { ungranted } from '../../secrets/grants.ts';
import type { SidecarCensus, SidecarPods } from '../../sidecar/census.ts';
import type { ObservedControlPlane } from './control-plane/decide.ts';
import { type ObserveControlPlaneWith, observeControlPlane } from './control-plane/observe.ts';
import { type OwnedObjects, readOwned } from './owned-objects.ts';
import { type PodState, type ProvenanceProbe, podState } from './pods/pod-state.ts';
import { type Routed, readRouted } from './pods/routed.ts';
import type { Fingerprints } from './rollout/fingerprints.ts';
import { type ObservedRollout, type ObserveRolloutWith, observeRollout } from './rollout/observe.ts';
import type { Turn } from './rollout/update-pace.ts';
import { type PodSecrets, readPodSecrets } from './secrets/observe-pod-secrets.ts';
import { readSigningKeys } from './secrets/observe-signing-keys.ts';
import type { Sources } from './sources/decide.ts';
import { allowedForeignPlugins, type ReadSourcesWith, readSources } from './sources/observe.ts';
import { type SourceVersion, sourceVersions } from './sources/source-versions.ts';
import type { ObservedStorage } from './storage/observed.ts';

export interface Observed extends OwnedObjects, ObservedStorage, ObservedRollout, Routed {
  readonly sources: Sources;
  /** Versions of the objects that it reads; absent in tests of decisions alone. */
  readonly seenSources?: readonly SourceVersion[];
  /** Public keys in hex that pods trust. */
  readonly trustedKeys: readonly string[];
  /** Trusted keys that are named and cannot be had. */
  readonly keyProblems: readonly Refusal[];
  /** The Deployments of this project. */
  readonly deployments: readonly Deployment[];
  /** The control plane that the project names. */
  readonly controlPlane?: ObservedControlPlane;
  /** The workload of a canary. */
  readonly canary?: Workload;
  readonly secrets: PodSecrets;
  readonly pods: readonly PodState[];
  /** Fingerprints of the artifacts that may be rolled out, by `artifact_hash`; absent if no canary is measured. */
  readonly fingerprints?: ReadonlyMap<string, Fingerprints>;
  /** Pods that have sidecars, or ask for them. */
  readonly injection?: SidecarPods;
  /** Why webhooks may not be asked. */
  readonly webhookDrift?: string;
  /** Whether pods that are as an operator before made them may be replaced now; absent: not known, so not yet. */
  readonly turn?: Turn;
}

export interface ObserveWith extends ReadSourcesWith, ObserveRolloutWith, ObserveControlPlaneWith {
  readonly probe: ProvenanceProbe;
  /** Limits of the projects' pods and Secrets. Default: DEFAULT_POD_POLICY. */
  readonly policy?: PodPolicy;
  /** Returns why API servers may not call the webhooks; absent if the operator has no webhooks. */
  readonly webhookDrift?: () => string | undefined;
  /** Absent if the operator injects no sidecars. */
  readonly census?: Pick<SidecarCensus, 'of' | 'onChange'>;
}

/** Returns undefined when the project is deleted, or being deleted. */
export async function observe(deps: ObserveWith, key: ObjectKey): Promise<Observed | undefined> {
  const { objects, probe, policy = DEFAULT_POD_POLICY } = deps;
  const project = await objects.get(gatewayProjects, key);
  if (!project || project.metadata.deletionTimestamp) return undefined;
  const { namespace } = key;
  const refused = policy.secretGrants ? await ungranted(objects, project, usedSecrets(project)) : [];
  // Read before the content of all sources.
  const seenSources = await sourceVersions(objects, project, {
    refused: new Set(refused.map(({ name }) => name)),
    foreign: await allowedForeignPlugins(deps, project),
  });
  const keys = await readSigningKeys(objects, project, new Set(refused.map(({ name }) => name)));
  const sources = {
    ...(await readSources(deps, project)),
    ...(keys.signing ? { signingKey: keys.signing } : {}),
    refused: refused.filter(({ field }) => isForCompiling(field)),
  };
  const mine = { namespace, labels: { [LABEL_PROJECT]: project.metadata.name } };
  // Lists by label: only the project's own objects matter, and missing ones need no request by name.
  const running = await objects.list(workloads, mine);
  const workload = running.find(({ metadata }) => metadata.name === gatewayName(project));
  const canary = running.find(({ metadata }) => metadata.name === canaryName(project));
  const found = await objects.list(pods, { namespace, labels: podLabels(project) });
  const parts = (await objects.listMetadata(configMaps, mine)).filter(
    (part) => part.metadata.labels?.[LABEL_PART] !== undefined,
  );
  const injection = deps.census?.of(key);
  const webhookDrift = deps.webhookDrift?.();
  const signedBy = keys.signing?.ok ? keys.signing.publicKey : undefined;
  return {
    project,
    sources,
    seenSources,
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
    ...(await observeControlPlane(deps, project, refused)),
    pods: await Promise.all(found.map((pod) => podState(pod, probe))),
    ...(await readRouted(objects, mine)),
    ...(await observeRollout(deps, project, found)),
    ...(injection ? { injection } : {}),
    ...(webhookDrift === undefined ? {} : { webhookDrift }),
  };
}

/** Reports whether compiling or storing needs the Secret; without the others pods are left as they are. */
function isForCompiling(field: string): boolean {
  return field.startsWith('spec.signing.') || field.startsWith('spec.storage.');
}
