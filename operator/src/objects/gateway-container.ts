/** The container with `gw serve`, its command line and its environment. */
import { flagName } from '@gw/gateway/serve-options';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IEnvFromSource } from 'kubernetes-models/v1/EnvFromSource';
import type { IEnvVar } from 'kubernetes-models/v1/EnvVar';
import type { GatewayProjectSpec } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import type { Part } from '../kube/manifest.ts';
import { ARTIFACT_DIR, type ArtifactSettings, type ArtifactSource } from './artifact-volume.ts';
import { type Link, linkParts } from './link.ts';
import { ADMIN_PORT, TRAFFIC_PORT } from './names.ts';
import type { PodPolicy } from './pod-policy.ts';
import { tlsParts } from './tls.ts';

/** Settings of pods beyond their project. */
export interface PodSettings extends ArtifactSettings {
  /** Public keys in hex, one of which must have signed the artifact; empty: unsigned artifacts are served. */
  readonly trustedKeys: readonly string[];
  /** Seconds in place of the project's `serve.drainDelay`. */
  readonly drainDelay?: number;
  /** Changes with the Secrets that are variables of the pods; absent without such Secrets. */
  readonly secretsVersion?: string;
  /** Role of the pods: see LABEL_ROLE. */
  readonly role?: string;
  /** How far the project may go with its pods; default: not beyond the usual. */
  readonly policy?: PodPolicy;
  /** Source of later artifacts; absent: pods are replaced for each. */
  readonly link?: Link;
}

export const SECRETS_DIR = '/var/run/secrets/gw';
/** Path of the bundled `gw` in the image. */
export const GW_ENTRY = '/app/gw.js';

/** Name of the container that serves. */
export const GATEWAY = 'gateway';

/** Returns the gateway's container of a pod. */
export function gatewayContainer(
  project: GatewayProject,
  artifact: ArtifactSource,
  settings: PodSettings,
): Part<IContainer> {
  const { spec } = project;
  const { pods, secrets } = spec;
  const link = settings.link && linkParts(settings.link);
  const tls = tlsParts(project);
  return {
    name: GATEWAY,
    image: pods.image ?? settings.image,
    imagePullPolicy: pods.imagePullPolicy,
    command: ['node', GW_ENTRY],
    args: [...serveArguments(project, settings.drainDelay), ...tls.args, ...(link?.args ?? [])],
    env: [...environment(spec, settings), ...(link?.env ?? [])],
    envFrom: secrets?.env?.map((name): Part<IEnvFromSource> => ({ secretRef: { name } })),
    ports: [
      { name: 'http', containerPort: TRAFFIC_PORT, protocol: 'TCP' },
      { name: 'admin', containerPort: ADMIN_PORT, protocol: 'TCP' },
    ],
    startupProbe: {
      httpGet: { path: '/ready', port: 'admin' },
      periodSeconds: 1,
      failureThreshold: 60,
      timeoutSeconds: 2,
    },
    // Ready also while it drains: if no other pod is ready, a Service still routes to those that end. Slow answers
    // count as ready too: on a busy node all pods would be taken out at once.
    readinessProbe: {
      httpGet: { path: '/ready?draining=ok', port: 'admin' },
      periodSeconds: 1,
      failureThreshold: 3,
      timeoutSeconds: 5,
    },
    livenessProbe: {
      httpGet: { path: '/health', port: 'admin' },
      periodSeconds: 10,
      failureThreshold: 6,
      timeoutSeconds: 5,
    },
    // The last log lines become the reason for which a rollout fails.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources: pods.resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      ...artifact.volumeMounts,
      { name: 'tmp', mountPath: '/tmp' },
      ...(secrets?.directory ? [{ name: 'secrets', mountPath: SECRETS_DIR, readOnly: true }] : []),
      ...tls.volumeMounts,
      ...(link?.volumeMounts ?? []),
    ],
  };
}

/** Returns the command line of `gw serve` in a gateway pod. */
export function serveArguments(project: GatewayProject, drainDelay?: number): readonly string[] {
  return [
    'serve',
    ...['--artifact', ARTIFACT_DIR],
    ...['--listen', `0.0.0.0:${TRAFFIC_PORT}`],
    ...['--admin-bind', `0.0.0.0:${ADMIN_PORT}`],
    ...projectArguments(project, drainDelay),
  ];
}

/**
 * Returns the project's options of `gw serve`, wherever it runs; options that it leaves out keep the program's
 * defaults.
 */
export function projectArguments({ metadata, spec }: GatewayProject, drainDelay?: number): readonly string[] {
  const { serve, egress, allowPlaintext } = spec;
  const { trustedProxies, adminHosts, state, ...plain } = serve;
  const option = (name: string, value: string | number | boolean | undefined) =>
    value === undefined ? [] : [name, String(value)];
  return [
    ...Object.entries({ ...plain, drainDelay: drainDelay ?? plain.drainDelay }).flatMap(([name, value]) =>
      option(flagName(name), value),
    ),
    // Projects may share a server; their counters and caches are their own.
    ...option('--state-prefix', state && `${metadata.namespace}.${metadata.name}`),
    ...option('--state-timeout-ms', state?.timeoutMs),
    ...(trustedProxies ?? []).flatMap((cidr) => option('--trusted-proxies', cidr)),
    ...(adminHosts ?? []).flatMap((host) => option('--admin-hosts', host)),
    ...(egress?.allow ?? []).flatMap((target) => option('--egress-allow', target)),
    ...(allowPlaintext ? ['--allow-plaintext-upstream'] : []),
  ];
}

function environment({ serve, secrets }: GatewayProjectSpec, { trustedKeys }: PodSettings): readonly Part<IEnvVar>[] {
  const url = serve.state?.url;
  const value = (name: string, text: string | undefined): readonly Part<IEnvVar>[] =>
    text === undefined || text === '' ? [] : [{ name, value: text }];
  return [
    ...value('GW_TRUSTED_PUBKEY', trustedKeys.join(',')),
    ...(url ? [{ name: 'GW_STATE', valueFrom: { secretKeyRef: { name: url.secret, key: url.key } } }] : []),
    ...value('GW_SECRETS_DIR', secrets?.directory ? SECRETS_DIR : undefined),
  ];
}
