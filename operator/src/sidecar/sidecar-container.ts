/** The sidecar's container, and the volumes that it needs: made of the same parts as gateway pods. */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IContainerPort } from 'kubernetes-models/v1/ContainerPort';
import type { IEnvFromSource } from 'kubernetes-models/v1/EnvFromSource';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { IVolumeProjection } from 'kubernetes-models/v1/VolumeProjection';
import type { GatewayProject } from '../api/resources.ts';
import type { Part } from '../kube/manifest.ts';
import { partName } from '../objects/artifact-parts.ts';
import { ARTIFACT_DIR } from '../objects/artifact-volume.ts';
import { GW_ENTRY, projectArguments, SECRETS_DIR } from '../objects/gateway-container.ts';
import { type Link, linkParts } from '../objects/link.ts';
import type { SidecarPodOptions } from './pod-options.ts';

export const SIDECAR = 'gw-sidecar';

export interface SidecarSettings {
  /** Image if the project names none. */
  readonly image: string;
  /** Public keys in hex, one of which must have signed the artifact; empty: unsigned artifacts are served. */
  readonly trustedKeys: readonly string[];
  /** Source of later artifacts; absent: it keeps its first one, in the project's own namespace. */
  readonly link?: Link;
}

export interface SidecarPlace {
  /** The pod's namespace. */
  readonly namespace: string;
  /** Port on which it serves, under the name of the app's port. */
  readonly trafficPort: number;
  readonly adminPort: number;
  readonly portName: string;
  /** The app's own. */
  readonly appPort: number;
}

export interface SidecarParts {
  readonly container: Part<IContainer>;
  readonly volumes: readonly Part<IVolume>[];
  readonly imagePullSecrets: readonly string[];
}

/**
 * Runs when the pod begins to end, and not only when the app has ended: closes each connection with its next response
 * while the app still answers. It searches for the process, which is not number 1 in a pod that shares its processes.
 */
const LET_CONNECTIONS_GO = `
const { readdirSync, readFileSync } = require('node:fs');
for (const pid of readdirSync('/proc').filter(Number)) {
  try {
    const [, entry, command] = readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0');
    if (entry === '${GW_ENTRY}' && command === 'serve') process.kill(Number(pid), 'SIGUSR1');
  } catch {}
}`.trim();

/** Prefix of the operator's names, so that they do not collide with the pod's. */
const ARTIFACT_VOLUME = 'gw-artifact';
const SECRETS_VOLUME = 'gw-secrets';
const TMP_VOLUME = 'gw-tmp';

export function sidecarParts(
  project: GatewayProject,
  place: SidecarPlace,
  podOptions: SidecarPodOptions,
  settings: SidecarSettings,
): SidecarParts {
  const { spec, metadata } = project;
  // Secrets of a project are those of its namespace: a pod elsewhere names its own.
  const own = place.namespace === metadata.namespace;
  const directory = podOptions.secretsDirectory ?? (own ? spec.secrets?.directory : undefined);
  const variables = podOptions.secretsEnv ?? (own ? (spec.secrets?.env ?? []) : []);
  const state = own ? spec.serve.state?.url : undefined;
  const link = settings.link && linkParts(settings.link);
  const artifact = own ? firstArtifact(project) : undefined;
  const adminPort: Part<IContainerPort> = { name: 'gw-admin', containerPort: place.adminPort, protocol: 'TCP' };
  const container: Part<IContainer> = {
    name: SIDECAR,
    image: spec.pods.image ?? settings.image,
    imagePullPolicy: spec.pods.imagePullPolicy,
    // Starts before the app and ends after it; Jobs do not wait for it.
    restartPolicy: 'Always',
    command: ['node', GW_ENTRY],
    args: [
      ...['serve', '--listen', `0.0.0.0:${place.trafficPort}`, '--app-port', String(place.appPort)],
      // No NetworkPolicy of the operator protects other people's pods.
      ...['--admin-bind', `${podOptions.admin ? '0.0.0.0' : '127.0.0.1'}:${place.adminPort}`],
      ...(artifact ? ['--artifact', ARTIFACT_DIR] : []),
      // It stops after the app has ended: there is nothing left to drain.
      ...projectArguments(withLogLevel(project, podOptions.logLevel), 0),
      // The kubelet's probes.
      ...['--expose-health', 'true'],
      ...(link?.args ?? []),
    ],
    env: [
      ...(settings.trustedKeys.length > 0
        ? [{ name: 'GW_TRUSTED_PUBKEY', value: settings.trustedKeys.join(',') }]
        : []),
      ...(state
        ? [{ name: 'GW_STATE', valueFrom: { secretKeyRef: { name: state.secret, key: state.key, optional: true } } }]
        : []),
      ...(directory ? [{ name: 'GW_SECRETS_DIR', value: SECRETS_DIR }] : []),
      ...(link?.env ?? []),
    ],
    envFrom: variables.length > 0 ? variables.map(fromSecret) : undefined,
    ports: [
      { name: place.portName, containerPort: place.trafficPort, protocol: 'TCP' },
      ...(podOptions.admin ? [adminPort] : []),
    ],
    // Without a startup probe: the app starts without an artifact, and gets no traffic until there is one.
    readinessProbe: {
      httpGet: { path: '/__gw/health', port: place.trafficPort },
      periodSeconds: 2,
      failureThreshold: 2,
      timeoutSeconds: 5,
    },
    lifecycle: { preStop: { exec: { command: ['node', '-e', LET_CONNECTIONS_GO] } } },
    resources: { ...spec.sidecar.resources, ...merged(spec.sidecar.resources, podOptions.resources) },
    // All fields are set, since the pod's own defaults may differ.
    securityContext: {
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumeMounts: [
      { name: TMP_VOLUME, mountPath: '/tmp' },
      ...(artifact ? [{ name: ARTIFACT_VOLUME, mountPath: ARTIFACT_DIR, readOnly: true }] : []),
      ...(directory ? [{ name: SECRETS_VOLUME, mountPath: SECRETS_DIR, readOnly: true }] : []),
      ...(link?.volumeMounts ?? []),
    ],
  };
  const volumes: readonly Part<IVolume>[] = [
    { name: TMP_VOLUME, emptyDir: { sizeLimit: '64Mi' } },
    ...(artifact ? [{ name: ARTIFACT_VOLUME, projected: { defaultMode: 0o444, sources: artifact } }] : []),
    // A container that runs as another user than the app shares no group with it: see readable().
    ...(directory
      ? [{ name: SECRETS_VOLUME, secret: { secretName: directory, optional: true, defaultMode: 0o444 } }]
      : []),
    ...(link?.volumes ?? []).map(readable),
  ];
  return { container, volumes, imagePullSecrets: own ? (spec.pods.imagePullSecrets ?? []) : [] };
}

/**
 * Returns the parts of the project's current artifact, as the sources of one folder; missing ones do not block the pod.
 */
function firstArtifact(project: GatewayProject): readonly Part<IVolumeProjection>[] | undefined {
  const { status } = project;
  const revision = status?.revisions?.find((kept) => kept.revision === status.revision);
  if (!revision?.parts) return undefined;
  const { archive, parts } = revision;
  return Array.from(
    { length: parts },
    (_, index): Part<IVolumeProjection> => ({ configMap: { name: partName(project, archive, index), optional: true } }),
  );
}

function fromSecret(name: string): Part<IEnvFromSource> {
  return { secretRef: { name, optional: true } };
}

function withLogLevel(project: GatewayProject, logLevel: SidecarPodOptions['logLevel']): GatewayProject {
  if (!logLevel) return project;
  return { ...project, spec: { ...project.spec, serve: { ...project.spec.serve, logLevel } } };
}

type Resources = GatewayProject['spec']['sidecar']['resources'];

function merged(project: Resources, pod: SidecarPodOptions['resources']): Resources {
  return {
    requests: { ...project.requests, ...pod.requests },
    limits: { ...project.limits, ...pod.limits },
  };
}

/**
 * Makes projected volumes readable for all. Their files belong to root, and to the pod's fsGroup if it has one: without
 * one, a container with a user of its own reads only files that all may read. Other containers do not mount the volume.
 */
function readable({ projected, ...rest }: Part<IVolume>): Part<IVolume> {
  return { ...rest, projected: projected && { ...projected, defaultMode: 0o444 } };
}
