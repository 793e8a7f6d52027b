/** Reads what opens the control plane that a project names, and what is known of the project there. */
import type { GatewayProject } from '../../api/resources.ts';
import type { Access } from '../../control-plane/connection.ts';
import type { ControlPlanes } from '../../control-plane/control-planes.ts';
import { keyOf } from '../../runtime/kube-object.ts';
import type { Objects } from '../../runtime/objects.ts';
import { type Read, readSecret, refuse } from '../source.ts';
import { CA_KEY, DATA_PLANE_KEY, type ObservedControlPlane } from './control-plane.ts';

export interface ObserveControlPlaneWith {
  readonly objects: Objects;
  readonly controlPlanes?: ControlPlanes;
}

export async function observeControlPlane(
  { objects, controlPlanes }: ObserveControlPlaneWith,
  project: GatewayProject,
): Promise<{ readonly controlPlane?: ObservedControlPlane }> {
  if (!project.spec.controlPlane || !controlPlanes) return {};
  const secret = await readAccess(objects, project, project.spec.controlPlane);
  const seen = controlPlanes.seen(keyOf(project));
  return { controlPlane: { secret, ...(seen ? { seen } : {}) } };
}

type Named = NonNullable<GatewayProject['spec']['controlPlane']>;

async function readAccess(
  objects: Objects,
  { metadata, spec }: GatewayProject,
  { url, secret: name }: Named,
): Promise<Read<{ readonly access: Access; readonly hasKey: boolean }>> {
  const { protocol } = URL.parse(url) ?? {};
  if (protocol !== 'https:' && protocol !== 'http:')
    return refuse('InvalidSpec', `spec.controlPlane.url: "${url}" is no URL: give https://HOST:PORT`);
  if (protocol === 'http:' && !spec.allowPlaintext) {
    return refuse('InvalidSpec', 'spec.controlPlane.url: http:// needs spec.allowPlaintext; better give https://');
  }
  const read = await readSecret(objects, metadata.namespace ?? 'default', name);
  if (!read.ok) return read;
  const text = (key: string) =>
    Buffer.from(read.entries.get(key) ?? '')
      .toString('utf8')
      .trim();
  const token = text('token');
  // What it is not is not repeated: it may be a token all the same.
  if (!/^[\x21-\x7e]{1,4096}$/.test(token)) {
    const why = token === '' ? 'has no key "token"' : 'has a key "token" that is no token';
    return refuse('SourceInvalid', `Secret "${name}" ${why}: put an API token of the control plane there`);
  }
  const ca = text(CA_KEY);
  return { ok: true, access: { url, token, ...(ca ? { ca } : {}) }, hasKey: text(DATA_PLANE_KEY) !== '' };
}
