/** Reads the credentials of the control plane that a project names, and the state of the project there. */
import type { EgressGuard } from '@gw/gateway/egress';
import { type Refusal, refuse } from '../../../api/refusal.ts';
import type { GatewayProject } from '../../../api/resources.ts';
import type { ControlPlanes } from '../../../control-plane/control-planes.ts';
import { keyOf } from '../../../kube/kube-object.ts';
import type { UsedSecret } from '../../../objects/used-secrets.ts';
import type { Objects } from '../../../runtime/objects.ts';
import { refusalToSend } from '../../../secrets/hosts.ts';
import { readSecret } from '../../../sources/read-source.ts';
import { CA_KEY, DATA_PLANE_KEY, type ObservedControlPlane } from './decide.ts';

export interface ObserveControlPlaneWith {
  readonly objects: Objects;
  readonly controlPlanes?: ControlPlanes;
}

export async function observeControlPlane(
  { objects, controlPlanes }: ObserveControlPlaneWith,
  project: GatewayProject,
  ungranted: readonly (Refusal & UsedSecret)[] = [],
): Promise<{ readonly controlPlane?: ObservedControlPlane }> {
  if (!project.spec.controlPlane || !controlPlanes) return {};
  const refused = ungranted.find(({ field }) => field === 'spec.controlPlane.secret');
  const secret = refused
    ? refuse(refused.reason, refused.message)
    : await readAccess(objects, controlPlanes.guard, project, project.spec.controlPlane);
  const seen = controlPlanes.seen(keyOf(project));
  return { controlPlane: { secret, ...(seen ? { seen } : {}) } };
}

type Named = NonNullable<GatewayProject['spec']['controlPlane']>;

async function readAccess(
  objects: Objects,
  guard: EgressGuard,
  { metadata, spec }: GatewayProject,
  { url, secret: name }: Named,
): Promise<ObservedControlPlane['secret']> {
  const fault = addressFault(url, spec.allowPlaintext, guard);
  if (fault !== undefined) return refuse('InvalidSpec', `spec.controlPlane.url: ${fault}`);
  const read = await readSecret(objects, metadata.namespace ?? 'default', name);
  if (!read.ok) return read;
  const refusal = refusalToSend(read.metadata, new URL(url));
  if (refusal !== undefined) return refuse('CredentialNotGranted', refusal);
  const text = (key: string) =>
    Buffer.from(read.entries.get(key) ?? '')
      .toString('utf8')
      .trim();
  const token = text('token');
  // The message does not repeat the value: it may still be a token.
  if (!/^[\x21-\x7e]{1,4096}$/.test(token)) {
    const why = token === '' ? 'has no key "token"' : 'has a key "token" that is not a token';
    return refuse('SourceInvalid', `Secret "${name}" ${why}: put an API token of the control plane there`);
  }
  const ca = text(CA_KEY);
  const access = { url, token, ...(ca ? { ca } : {}) };
  return { ok: true, name, access, hasKey: text(DATA_PLANE_KEY) !== '' };
}

/**
 * Reports the fault of a control plane's address (docs/decisions.md#tenant-addresses); repeats the address only if it
 * cannot hold a credential.
 */
export function addressFault(
  text: string,
  allowPlaintext: boolean,
  guard: Pick<EgressGuard, 'names'>,
): string | undefined {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'it is not a URL: use https://HOST:PORT';
  if (url.username !== '' || url.password !== '') return 'it holds credentials: put a token into the Secret';
  if (/[?#]/.test(text)) return 'it has a query or a fragment: use https://HOST:PORT, optionally with a path';
  if (url.protocol === 'https:' || (allowPlaintext && guard.names(url.hostname))) return undefined;
  return allowPlaintext
    ? `http:// must be allowed by the operator too: --egress-allow ${url.hostname}; prefer https://`
    : 'http:// needs spec.allowPlaintext; prefer https://';
}
