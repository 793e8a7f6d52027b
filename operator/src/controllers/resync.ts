/** Intervals of reconciles without a change: short for unwatched objects, long for watched ones. */
import { secrets } from '../api/resources.ts';
import type { Condition } from '../api/shared.ts';
import { type KubeObject, keyText, type ObjectKey, type Resource } from '../kube/kube-object.ts';
import type { Objects } from '../runtime/objects.ts';
import { TrackedObjects } from '../runtime/tracked-objects.ts';
import type { ProvenanceProbe } from './gateway-project/pods/pod-state.ts';
import type { ProvenanceMemory } from './gateway-project/pods/provenance-memory.ts';
import { GRACE_MS, isWaiting } from './status/progress.ts';

/** Changes of Secrets, which may not be watched, are seen within a minute. */
const SECRETS_MS = 60_000;
/** A reconcile that requeues sooner than this waits for something. */
const UNDER_WAY_MS = 30_000;

interface WithStatus extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface ResyncDeps {
  readonly objects: Objects;
  readonly watchSecrets: boolean;
}

/** Requeues sooner after a reconcile that has read a Secret, or that waits for something that may not come. */
export async function resynced<T extends ResyncDeps>(
  deps: T,
  resource: Resource<WithStatus>,
  key: ObjectKey,
  reconcile: (deps: T) => Promise<number | undefined>,
): Promise<number | undefined> {
  const objects = new TrackedObjects(deps.objects, secrets);
  const requeueAfterMs = await reconcile({ ...deps, objects });
  if (requeueAfterMs === undefined) return undefined;
  const secretsAfterMs = objects.readUnwatched && !deps.watchSecrets ? SECRETS_MS : requeueAfterMs;
  const status = (await deps.objects.get(resource, key))?.status;
  const graceMs = isWaiting(status?.conditions) ? GRACE_MS + 1000 : requeueAfterMs;
  return Math.min(requeueAfterMs, secretsAfterMs, objects.retryMs, graceMs);
}

/** Reconciles with queries only to pods that have not answered yet, unless something is in progress. */
export async function rememberingPods<T extends { readonly probe: ProvenanceProbe }>(
  deps: T,
  memory: ProvenanceMemory,
  key: ObjectKey,
  reconcile: (deps: T) => Promise<number | undefined>,
): Promise<number | undefined> {
  const requeueAfterMs = await reconcile({ ...deps, probe: memory.of(keyText(key)) });
  if (requeueAfterMs === undefined || requeueAfterMs < UNDER_WAY_MS) memory.forget(keyText(key));
  return requeueAfterMs;
}
