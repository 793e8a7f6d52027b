/** Which project a caller is a data plane of: as one of its gateway pods, or as a sidecar that it admits. */
import { type GatewayProject, gatewayProjects, pods } from '../api/resources.ts';
import { admits } from '../controllers/plugin-ref/grants.ts';
import { gatewayName, LABEL_PROJECT } from '../objects/names.ts';
import type { NamespaceView } from '../runtime/namespace-view.ts';
import type { Objects } from '../runtime/objects.ts';
import { projectOfSidecar } from '../sidecar/labels.ts';
import type { Caller } from './token-reviewer.ts';

type Role = 'gateway' | 'sidecar';

export interface Admitted {
  readonly project: GatewayProject;
  readonly role: Role;
}

export interface AdmitWith {
  readonly objects: Objects;
  readonly namespaces: NamespaceView;
}

/** Returns undefined if the caller belongs to no project that the operator manages. */
export async function admit({ objects, namespaces }: AdmitWith, caller: Caller): Promise<Admitted | undefined> {
  const { namespace, serviceAccount } = caller;
  const pod = await objects.getMetadata(pods, { namespace, name: caller.pod });
  if (pod?.metadata.uid !== caller.podUid) return undefined;
  const name = pod.metadata.labels?.[LABEL_PROJECT];
  if (name !== undefined) {
    const project = await objects.get(gatewayProjects, { namespace, name });
    // Other pods run as this service account only with permission in the namespace.
    if (project && serviceAccount === gatewayName(project)) return { project, role: 'gateway' };
  }
  const named = projectOfSidecar(pod.metadata);
  if (!named || !namespaces.includes(named.namespace)) return undefined;
  const project = await objects.get(gatewayProjects, named);
  if (!project || project.metadata.deletionTimestamp) return undefined;
  const granted = await admits(named.namespace, project.spec.sidecar.allowedNamespaces, namespace, namespaces);
  return granted ? { project, role: 'sidecar' } : undefined;
}
