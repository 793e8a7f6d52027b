import type { Verdict } from '../../../runtime/conditions.ts';
import type { SidecarPods } from '../../../sidecar/census.ts';

/** Maximum number of pods in a message. */
const MAX_NAMED = 5;

/** Reports whether the pods that request a sidecar of the project have one. Does not affect what is served. */
export function injectedVerdict({ pods, missing }: SidecarPods): Verdict {
  if (missing.length === 0)
    return { type: 'Injected', status: 'True', reason: 'Injected', message: `${pods} pod(s) have a sidecar` };
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : '';
  return {
    type: 'Injected',
    status: 'False',
    reason: 'SidecarMissing',
    message: `${missing.slice(0, MAX_NAMED).join(', ')}${more} request a sidecar but have none: delete the pods, or restart their workloads`,
  };
}
