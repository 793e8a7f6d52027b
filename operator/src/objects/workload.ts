import type { GatewayProjectSpec, Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../runtime/kube-object.ts';
import { partName } from './artifact-parts.ts';
import {
  ADMIN_PORT,
  ANNOTATION_ARCHIVE,
  ANNOTATION_HASH,
  ANNOTATION_REVISION,
  gatewayName,
  ownedMeta,
  podLabels,
  TRAFFIC_PORT,
} from './names.ts';

/** What pods need to know beyond their project. */
export interface PodSettings {
  /** Image where the project names none. */
  readonly image: string;
  /** Public keys in hex, one of which must have signed what pods load; none: unsigned artifacts are served. */
  readonly trustedKeys: readonly string[];
  /** Seconds in place of the project's `serve.drainDelay`. */
  readonly drainDelay?: number;
}

export const SECRETS_DIR = '/var/run/secrets/gw';
const ARTIFACT_DIR = '/artifact';
/** Where the image holds the bundled `gw`. */
export const GW_ENTRY = '/app/gw.js';

/** The apps/v1 Deployment whose pods serve one revision. */
export function workload(project: GatewayProject, revision: Revision, settings: PodSettings): KubeObject {
  const { pods, serve } = project.spec;
  const annotations = {
    [ANNOTATION_ARCHIVE]: revision.archive,
    [ANNOTATION_HASH]: revision.artifactHash,
    [ANNOTATION_REVISION]: String(revision.revision),
  };
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: ownedMeta(project, gatewayName(project), { annotations }),
    spec: {
      replicas: pods.replicas,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 120,
      // A pod goes only when its successor is ready.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '25%' } },
      selector: { matchLabels: podLabels(project) },
      template: {
        metadata: {
          labels: { ...foreign(pods.labels), ...podLabels(project), 'app.kubernetes.io/managed-by': 'gw-operator' },
          annotations: { ...foreign(pods.annotations), ...annotations },
        },
        spec: {
          serviceAccountName: gatewayName(project),
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: serve.drainDelay + serve.shutdownTimeout + 5,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1000,
            runAsGroup: 1000,
            fsGroup: 1000,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          ...(pods.imagePullSecrets ? { imagePullSecrets: pods.imagePullSecrets.map((name) => ({ name })) } : {}),
          ...(pods.nodeSelector ? { nodeSelector: pods.nodeSelector } : {}),
          ...(pods.tolerations ? { tolerations: pods.tolerations } : {}),
          ...(pods.priorityClassName ? { priorityClassName: pods.priorityClassName } : {}),
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: podLabels(project) },
            },
          ],
          containers: [container(project, settings)],
          volumes: volumes(project, revision),
        },
      },
    },
  };
  return object;
}

function container(project: GatewayProject, settings: PodSettings): object {
  const { spec } = project;
  const { pods, secrets } = spec;
  return {
    name: 'gateway',
    image: pods.image ?? settings.image,
    imagePullPolicy: pods.imagePullPolicy,
    command: ['node', GW_ENTRY],
    args: serveArguments(project, settings.drainDelay),
    env: environment(spec, settings),
    ...(secrets?.env ? { envFrom: secrets.env.map((name) => ({ secretRef: { name } })) } : {}),
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
    readinessProbe: {
      httpGet: { path: '/ready', port: 'admin' },
      periodSeconds: 2,
      failureThreshold: 2,
      timeoutSeconds: 2,
    },
    livenessProbe: {
      httpGet: { path: '/health', port: 'admin' },
      periodSeconds: 10,
      failureThreshold: 6,
      timeoutSeconds: 5,
    },
    resources: pods.resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'artifact', mountPath: ARTIFACT_DIR, readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
      ...(secrets?.directory ? [{ name: 'secrets', mountPath: SECRETS_DIR, readOnly: true }] : []),
    ],
  };
}

/** The command line of `gw serve`; options left out of the project keep the program's defaults. */
export function serveArguments({ metadata, spec }: GatewayProject, drainDelay?: number): readonly string[] {
  const { serve, egress, allowPlaintext } = spec;
  const { trustedProxies, state, ...plain } = serve;
  const option = (name: string, value: string | number | boolean | undefined) =>
    value === undefined ? [] : [name, String(value)];
  return [
    'serve',
    ...option('--artifact', ARTIFACT_DIR),
    ...option('--listen', `0.0.0.0:${TRAFFIC_PORT}`),
    ...option('--admin-bind', `0.0.0.0:${ADMIN_PORT}`),
    ...Object.entries({ ...plain, drainDelay: drainDelay ?? plain.drainDelay }).flatMap(([name, value]) =>
      option(flagOf(name), value),
    ),
    // Projects may share a server; their counters and caches are their own.
    ...option('--state-prefix', state && `${metadata.namespace}.${metadata.name}`),
    ...option('--state-timeout-ms', state?.timeoutMs),
    ...(trustedProxies ?? []).flatMap((cidr) => option('--trusted-proxies', cidr)),
    ...(egress?.allow ?? []).flatMap((target) => option('--egress-allow', target)),
    ...(allowPlaintext ? ['--allow-plaintext-upstream'] : []),
  ];
}

/** `maxBodySize` is `--max-body-size`. */
function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function environment({ serve, secrets }: GatewayProjectSpec, { trustedKeys }: PodSettings): readonly object[] {
  const url = serve.state?.url;
  const value = (name: string, text: string | undefined) =>
    text === undefined || text === '' ? [] : [{ name, value: text }];
  return [
    ...value('GW_TRUSTED_PUBKEY', trustedKeys.join(',')),
    ...(url ? [{ name: 'GW_STATE', valueFrom: { secretKeyRef: { name: url.secret, key: url.key } } }] : []),
    ...value('GW_SECRETS_DIR', secrets?.directory ? SECRETS_DIR : undefined),
  ];
}

function volumes(project: GatewayProject, revision: Revision): readonly object[] {
  const { secrets } = project.spec;
  const parts = Array.from({ length: revision.parts }, (_, index) => partName(project, revision.archive, index));
  return [
    // One folder out of all parts (D29).
    { name: 'artifact', projected: { defaultMode: 0o444, sources: parts.map((name) => ({ configMap: { name } })) } },
    { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
    ...(secrets?.directory ? [{ name: 'secrets', secret: { secretName: secrets.directory, defaultMode: 0o440 } }] : []),
  ];
}

/** The user's labels or annotations, without those that are ours to set. */
function foreign(map: { readonly [name: string]: string } = {}): { readonly [name: string]: string } {
  const ours = /^(gw\.dev|app\.kubernetes\.io)\//;
  return Object.fromEntries(Object.entries(map).filter(([name]) => !ours.test(name)));
}
