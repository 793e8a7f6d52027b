/**
 * The hosts to which a Secret may be sent (docs/decisions.md#secret-names-hosts): users who write an ApiSpec, a
 * PluginRef or a GatewayProject name Secrets and addresses in it, and may not be allowed to read the Secrets. So the
 * Secret itself names the hosts to which it may go. Secrets of type kubernetes.io/dockerconfigjson name them in their
 * content: see registry/docker-config.ts.
 */
import { GROUP } from '../api/schema.ts';
import type { ObjectMeta } from '../kube/kube-object.ts';

/** `"true"` on a Secret that may be sent to addresses at all. */
export const LABEL_CREDENTIAL = `${GROUP}/credential`;
/** Hosts, separated by commas or spaces: `NAME`, `*.SUFFIX` or an address, each with `:PORT` or for every port. */
export const ANNOTATION_HOSTS = `${GROUP}/hosts`;

/** Returns why the Secret may not be sent to this URL, and how to allow it; undefined if it may. */
export function refusalToSend({ name, labels, annotations }: ObjectMeta, url: URL): string | undefined {
  const isCredential = labels?.[LABEL_CREDENTIAL] === 'true';
  const entries = (annotations?.[ANNOTATION_HOSTS] ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  if (isCredential && entries.some((entry) => covers(entry.toLowerCase(), url))) return undefined;
  // The message omits the listed hosts: the user who writes the address may not read the Secret.
  const label = isCredential ? '' : `the label ${LABEL_CREDENTIAL}: "true" and `;
  return (
    `Secret "${name}" does not allow being sent to ${url.host}: ` +
    `if it should, give it ${label}"${url.host}" in the annotation ${ANNOTATION_HOSTS}`
  );
}

function covers(entry: string, url: URL): boolean {
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (port !== undefined && Number(port) !== portOf(url)) return false;
  const name = url.hostname.replace(/\.$/, '');
  const wanted = host.replace(/\.$/, '');
  if (!wanted.startsWith('*.')) return wanted !== '' && wanted === name;
  return wanted.length > 2 && name.endsWith(wanted.slice(1)) && name.length > wanted.length - 1;
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' || protocol === 'wss:' ? 443 : 80;
}
