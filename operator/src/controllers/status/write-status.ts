import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '../../api/shared.ts';
import type { KubeObject, Resource } from '../../kube/kube-object.ts';
import type { EventRecord, Objects } from '../../runtime/objects.ts';
import { stalledEvents, withProgress } from './progress.ts';

interface WithConditions {
  readonly conditions?: readonly Condition[];
  readonly artifactHash?: string;
}

const SHORT_HASH = /^sha256:([0-9a-f]{12})/;

/**
 * Applies the status, with Reconciling or Stalled and the short hash, if it differs from the current one. Refused with
 * 409 if the object has changed since it was read: a decision on an older state must not be recorded for the newer. The
 * caller emits the returned Events.
 */
export async function writeStatus<S extends WithConditions>(
  objects: Objects,
  resource: Resource<KubeObject>,
  object: KubeObject & { readonly status?: S },
  decided: S,
): Promise<readonly EventRecord[]> {
  const status = {
    ...decided,
    ...(decided.conditions
      ? { conditions: withProgress(decided.conditions, object.status?.conditions, new Date()) }
      : {}),
    ...shortHashOf(decided),
  };
  // Compared as JSON, in which undefined members are absent.
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(object.status ?? null)), JSON.parse(JSON.stringify(status))))
    return [];
  const { apiVersion, kind, metadata } = object;
  const applied = {
    apiVersion,
    kind,
    // Includes the uid, so that the status of a deleted project never reaches its namesake.
    metadata: {
      name: metadata.name,
      ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
      ...(metadata.uid ? { uid: metadata.uid } : {}),
      ...(metadata.resourceVersion ? { resourceVersion: metadata.resourceVersion } : {}),
    },
    status,
  };
  await objects.applyStatus(resource, applied);
  return stalledEvents(object.status?.conditions, status.conditions);
}

function shortHashOf({ artifactHash }: WithConditions): { readonly shortHash?: string } {
  const short = SHORT_HASH.exec(artifactHash ?? '')?.[1];
  return short === undefined ? {} : { shortHash: short };
}
