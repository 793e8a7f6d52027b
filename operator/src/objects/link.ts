/**
 * The link over which a pod gets new artifacts: to the operator, or to the control plane that the project names
 * (docs/decisions.md#later-artifacts-over-link).
 */
import type { IEnvVar } from 'kubernetes-models/v1/EnvVar';
import type { IKeyToPath } from 'kubernetes-models/v1/KeyToPath';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { IVolumeMount } from 'kubernetes-models/v1/VolumeMount';
import type { IVolumeProjection } from 'kubernetes-models/v1/VolumeProjection';
import type { Part } from '../kube/manifest.ts';

export interface Link {
  /** `wss://HOST:PORT/ws/data-plane`. */
  readonly url: string;
  /** Id of the project; at the operator the GatewayProject's uid. */
  readonly projectId: string;
  /** PEM certificates that the server's is checked with; absent: those that the system trusts. */
  readonly ca?: string;
  /** The pod's credential: a token of its ServiceAccount for that audience, or a key of a Secret. */
  readonly credential:
    | { readonly kind: 'service-account'; readonly audience: string }
    /** `ca`: the key of the certificates that the server's is checked with, in the same Secret. */
    | { readonly kind: 'secret'; readonly name: string; readonly key: string; readonly ca?: string };
}

export interface LinkParts {
  readonly args: readonly string[];
  readonly env: readonly Part<IEnvVar>[];
  readonly volumes: readonly Part<IVolume>[];
  readonly volumeMounts: readonly Part<IVolumeMount>[];
}

const CACHE_DIR = '/var/cache/gw';
const CREDENTIAL_DIR = '/var/run/gw-link';
const CA_FILE = 'ca.crt';
const CREDENTIAL_VOLUME = 'gw-link';
const CACHE_VOLUME = 'gw-cache';
/** Seconds; the kubelet renews it in time, and `gw serve` reads it again at each connection. */
const TOKEN_SECONDS = 3600;
/**
 * A pod that starts with an older artifact is not ready before it has the desired one, or these seconds have passed:
 * more than another replica needs to take over from a killed leader, which is 15 s and its own start.
 */
const WAIT = ['--control-plane-wait', '45'];

/**
 * Returns the link's parts of a pod with `gw serve`, with a volume in which the last good artifact outlives the
 * container.
 */
export function linkParts({ url, projectId, ca, credential }: Link): LinkParts {
  const source: Part<IVolumeProjection> =
    credential.kind === 'service-account'
      ? { serviceAccountToken: { path: 'key', audience: credential.audience, expirationSeconds: TOKEN_SECONDS } }
      : { secret: { name: credential.name, items: secretItems(credential) } };
  const trusted = ca ?? (credential.kind === 'secret' && credential.ca ? `${CREDENTIAL_DIR}/${CA_FILE}` : undefined);
  return {
    args: ['--control-plane', url, '--project-id', projectId, '--cache-dir', CACHE_DIR, ...WAIT],
    env: [
      { name: 'GW_API_KEY_FILE', value: `${CREDENTIAL_DIR}/key` },
      ...(trusted ? [{ name: 'GW_CONTROL_PLANE_CA', value: trusted }] : []),
      { name: 'GW_DATA_PLANE_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
    volumes: [
      { name: CREDENTIAL_VOLUME, projected: { defaultMode: 0o440, sources: [source] } },
      { name: CACHE_VOLUME, emptyDir: { sizeLimit: '256Mi' } },
    ],
    volumeMounts: [
      { name: CREDENTIAL_VOLUME, mountPath: CREDENTIAL_DIR, readOnly: true },
      { name: CACHE_VOLUME, mountPath: CACHE_DIR },
    ],
  };
}

/** Returns the Secret's keys as files, so that a rotated Secret reaches running pods. */
function secretItems({ key, ca }: { readonly key: string; readonly ca?: string }): readonly Part<IKeyToPath>[] {
  return [{ key, path: 'key' }, ...(ca ? [{ key: ca, path: CA_FILE }] : [])];
}
