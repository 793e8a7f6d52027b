/**
 * Parts of a pod's template beyond the limits of a GatewayProject (docs/decisions.md#resulting-pod), from any of its
 * fields: compares the resulting template with the operator's template of the project without a patch. Pure.
 */
import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '@gw/gateway/artifact';
import type { PodField } from './pod-policy.ts';

export interface PodFault {
  /** The field that must be allowed; `secret`: the project itself must name the Secret. */
  readonly field: PodField | 'secret';
  /** Path of the fault and its description. */
  readonly message: string;
}

export interface PodFaultsWith {
  /** The template as the operator makes it. */
  readonly own: JsonObject;
  /** The resulting template. */
  readonly template: JsonObject;
  /** Names of the Secrets that the pod may have. */
  readonly secrets: ReadonlySet<string>;
}

const { normalize } = posix;

/** Scheduling, termination, DNS and names, which every project may set. */
const FREE_IN_POD = new Set([
  ...['affinity', 'nodeSelector', 'preemptionPolicy', 'priority', 'priorityClassName', 'readinessGates'],
  ...['schedulerName', 'schedulingGates', 'tolerations', 'topologySpreadConstraints'],
  ...['activeDeadlineSeconds', 'terminationGracePeriodSeconds'],
  ...['dnsConfig', 'dnsPolicy', 'hostAliases', 'hostname', 'setHostnameAsFQDN', 'subdomain'],
  ...['enableServiceLinks', 'os'],
]);
/** Fields that further lists below check. */
const LOOKED_AT_IN_POD = new Set(['containers', 'initContainers', 'volumes', 'imagePullSecrets']);
const FREE_IN_CONTAINER = new Set([
  ...['name', 'image', 'imagePullPolicy', 'resizePolicy', 'resources'],
  'terminationMessagePolicy',
]);
const LOOKED_AT_IN_CONTAINER = new Set([
  ...['env', 'envFrom', 'ports', 'volumeMounts'],
  ...['livenessProbe', 'readinessProbe', 'startupProbe', 'securityContext'],
]);
const TIMINGS = new Set([
  ...['failureThreshold', 'initialDelaySeconds', 'periodSeconds', 'successThreshold'],
  ...['terminationGracePeriodSeconds', 'timeoutSeconds'],
]);
/** Variables by which the runtime, Node.js, the linker, C's library and OpenSSL run something else than the image. */
const RESERVED = /^((GW|NODE|LD|OPENSSL)_|(PATH|GCONV_PATH)$)/;

export function isReservedVariable(name: string): boolean {
  return RESERVED.test(name);
}

/**
 * Folders without files of the image that are run or read as configuration. Excludes `/etc/ssl`, in which Node.js looks
 * for openssl.cnf, and `/home`, below which OpenSSL looks for modules to load.
 */
const MOUNTABLE = /^\/(data|etc\/gw|etc\/ssl\/certs|mnt|opt|run|srv|var)(\/|$)/;
const FREE_FOLDERS =
  'below /data, /etc/gw, /etc/ssl/certs, /mnt, /opt, /run, /srv or /var, and not where the operator mounts';
/** Privileges that a further container may set without being allowed: only those that reduce them. */
const LESS: Readonly<Record<string, (value: Json | undefined) => boolean>> = {
  allowPrivilegeEscalation: (value) => value === false,
  capabilities: (value) => Object.keys(objectOf(value)).every((key) => key === 'drop'),
  privileged: (value) => value === false,
  readOnlyRootFilesystem: (value) => value === true,
  runAsGroup: (value) => typeof value === 'number' && value > 0,
  runAsNonRoot: (value) => value === true,
  runAsUser: (value) => typeof value === 'number' && value > 0,
  seccompProfile: (value) => isDeepStrictEqual(value, { type: 'RuntimeDefault' }),
};
const BY_NAME: ReadonlySet<string> = new Set<PodField>([
  ...(['args', 'automountServiceAccountToken', 'command', 'hostIPC', 'hostNetwork', 'hostPID', 'hostUsers'] as const),
  ...(['lifecycle', 'nodeName', 'runtimeClassName', 'securityContext', 'serviceAccountName'] as const),
  'shareProcessNamespace',
]);

export function podFaults({ own, template, secrets }: PodFaultsWith): readonly PodFault[] {
  const [before, after] = [objectOf(own['spec']), objectOf(template['spec'])];
  const ownVolumes = new Set(listOf(before['volumes']).map(({ name }) => shown(name)));
  const pullSecrets = new Set(listOf(before['imagePullSecrets']).map(({ name }) => shown(name)));
  return [
    ...profileFaults(objectOf(objectOf(template['metadata'])['annotations'])),
    ...otherFields(
      objectOf(own['metadata']),
      objectOf(template['metadata']),
      'metadata',
      (key) => key === 'labels' || key === 'annotations',
    ),
    ...otherFields(before, after, 'spec', (key) => FREE_IN_POD.has(key) || LOOKED_AT_IN_POD.has(key)),
    ...listOf(after['imagePullSecrets']).flatMap((each) =>
      secretFault(each['name'], secrets.union(pullSecrets), 'spec.imagePullSecrets'),
    ),
    ...listOf(after['volumes']).flatMap((volume) =>
      volumeFaults(volume, named(before['volumes'], volume['name']), secrets),
    ),
    ...(['containers', 'initContainers'] as const).flatMap((list) =>
      listOf(after[list]).flatMap((container) => {
        const at = `spec.${list}[${shown(container['name'])}]`;
        const ours = named(before[list], container['name']);
        return ours
          ? ownContainerFaults(container, ours, secrets, ownVolumes, at)
          : furtherFaults(container, secrets, list, at);
      }),
    ),
  ];
}

/** Finds profiles of AppArmor and seccomp in annotations, which Kubernetes still reads in place of fields. */
function profileFaults(annotations: JsonObject): readonly PodFault[] {
  return Object.keys(annotations)
    .filter((name) => /(^|\.)(apparmor|seccomp)\./.test(name))
    .map((name) => ({ field: 'securityContext', message: `annotation "${name}"` }));
}

/** Returns the fields that differ from the operator's and are not `isFree`. */
function otherFields(
  before: JsonObject,
  after: JsonObject,
  at: string,
  isFree: (key: string) => boolean,
): readonly PodFault[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys]
    .filter((key) => !isFree(key) && !isDeepStrictEqual(before[key], after[key]))
    .map((key) => ({ field: fieldOf(key), message: `${at}.${key}` }));
}

function fieldOf(key: string): PodField {
  if (key === 'serviceAccount') return 'serviceAccountName';
  return isByName(key) ? key : 'other';
}

function isByName(key: string): key is PodField {
  return BY_NAME.has(key);
}

function ownContainerFaults(
  after: JsonObject,
  before: JsonObject,
  secrets: ReadonlySet<string>,
  ownVolumes: ReadonlySet<string>,
  at: string,
): readonly PodFault[] {
  const isFree = (key: string) => FREE_IN_CONTAINER.has(key) || LOOKED_AT_IN_CONTAINER.has(key);
  return [
    ...otherFields(before, after, at, isFree),
    ...differing('securityContext', 'securityContext', before, after, at),
    ...differing('ports', 'ports', before, after, at),
    ...hostPortFaults(after, at),
    ...differing('envFrom', 'envFrom', before, after, at),
    ...variableSetFaults(after, before, secrets, at),
    ...['startupProbe', 'readinessProbe', 'livenessProbe'].flatMap((probe) => {
      const [ours, theirs] = [before[probe], after[probe]].map(withoutTimings);
      return isDeepStrictEqual(ours, theirs) ? [] : [{ field: 'probes', message: `${at}.${probe}` } as const];
    }),
    ...variableFaults(after, before, secrets, at),
    ...mountFaults(after, before, ownVolumes, at),
  ];
}

function differing(
  key: string,
  field: PodField,
  before: JsonObject,
  after: JsonObject,
  at: string,
): readonly PodFault[] {
  return isDeepStrictEqual(before[key], after[key]) ? [] : [{ field, message: `${at}.${key}` }];
}

function withoutTimings(probe: Json | undefined): JsonObject {
  return Object.fromEntries(Object.entries(objectOf(probe)).filter(([key]) => !TIMINGS.has(key)));
}

function variableFaults(
  after: JsonObject,
  before: JsonObject,
  secrets: ReadonlySet<string>,
  at: string,
): readonly PodFault[] {
  const isOurs = (variable: JsonObject) =>
    isDeepStrictEqual(
      listOf(before['env']).find(({ name }) => name === variable['name']),
      variable,
    );
  const theirs = listOf(after['env']);
  const gone = listOf(before['env']).filter(({ name }) => !theirs.some((each) => each['name'] === name));
  return [
    ...gone.map(({ name }) => ({ field: 'env' as const, message: `${at}.env without ${shown(name)}` })),
    ...theirs
      .filter((variable) => !isOurs(variable))
      .flatMap((variable): PodFault[] => {
        const name = shown(variable['name']);
        const changed = listOf(before['env']).some((each) => each['name'] === variable['name']);
        const secret = objectOf(objectOf(variable['valueFrom'])['secretKeyRef'])['name'];
        return [
          ...(changed || isReservedVariable(name) || expandsOurs(variable['value'])
            ? [{ field: 'env' as const, message: `${at}.env ${name}` }]
            : []),
          ...(secret === undefined ? [] : secretFault(secret, secrets, `${at}.env ${name}`)),
        ];
      }),
  ];
}

/** Reports whether a value expands a reserved variable: the kubelet would reveal it. */
function expandsOurs(value: Json | undefined): boolean {
  return typeof value === 'string' && value.includes('$(GW_');
}

/** Finds whole Secrets as variables, beside those that the operator sets. */
function variableSetFaults(
  after: JsonObject,
  before: JsonObject,
  secrets: ReadonlySet<string>,
  at: string,
): readonly PodFault[] {
  return listOf(after['envFrom'])
    .filter((each) => !listOf(before['envFrom']).some((ours) => isDeepStrictEqual(ours, each)))
    .flatMap((each) => {
      const name = objectOf(each['secretRef'])['name'];
      return name === undefined ? [] : secretFault(name, secrets, `${at}.envFrom`);
    });
}

function hostPortFaults({ ports }: JsonObject, at: string): readonly PodFault[] {
  return listOf(ports)
    .filter(({ hostPort }) => hostPort !== undefined)
    .map(({ hostPort }) => ({ field: 'hostPort' as const, message: `${at}.ports ${shown(hostPort)}` }));
}

/** Resolves the image's link from `/var/run` to `/run`. */
function canonical(path: string): string {
  return normalize(path)
    .replace(/\/+$/, '')
    .replace(/^\/var\/run(?=\/|$)/, '/run');
}

/** Reports whether one path equals or contains the other. */
function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

function mountFaults(
  after: JsonObject,
  before: JsonObject,
  ownVolumes: ReadonlySet<string>,
  at: string,
): readonly PodFault[] {
  const theirs = listOf(after['volumeMounts']);
  const fault = (path: Json | undefined) => ({
    field: 'volumeMounts' as const,
    message: `${at}.volumeMounts ${shown(path)}`,
  });
  const gone = listOf(before['volumeMounts']).filter((mount) => !theirs.some((each) => isDeepStrictEqual(each, mount)));
  const added = theirs.filter(
    (mount) => !listOf(before['volumeMounts']).some((each) => isDeepStrictEqual(each, mount)),
  );
  const ours = listOf(before['volumeMounts']).map(({ mountPath }) => canonical(shown(mountPath)));
  const bad = added.filter(({ name, mountPath, mountPropagation }) => {
    const path = canonical(typeof mountPath === 'string' ? mountPath : '/');
    // The operator's mounts must hold their own content, which only the gateway may read.
    const isOurs = ours.some((each) => overlap(each, path)) || (ownVolumes.has(shown(name)) && name !== 'tmp');
    return mountPropagation !== undefined || isOurs || !MOUNTABLE.test(path);
  });
  return [
    ...gone.map(({ mountPath }) => fault(mountPath)),
    ...bad.map(({ mountPath }) => ({
      ...fault(mountPath),
      message: `${fault(mountPath).message} (free: ${FREE_FOLDERS})`,
    })),
  ];
}

/** Finds faults of a container that the operator does not make. */
function furtherFaults(
  container: JsonObject,
  secrets: ReadonlySet<string>,
  list: 'containers' | 'initContainers',
  at: string,
): readonly PodFault[] {
  const { securityContext, env, envFrom, volumeDevices } = container;
  const more = Object.entries(objectOf(securityContext)).filter(([key, value]) => !LESS[key]?.(value));
  const named = [
    ...listOf(env).map((each) => objectOf(objectOf(each['valueFrom'])['secretKeyRef'])['name']),
    ...listOf(envFrom).map((each) => objectOf(each['secretRef'])['name']),
  ];
  return [
    { field: list, message: at },
    ...more.map(([key]) => ({ field: 'securityContext' as const, message: `${at}.securityContext.${key}` })),
    ...named.flatMap((name) => (name === undefined ? [] : secretFault(name, secrets, `${at}.env`))),
    ...hostPortFaults(container, at),
    ...(volumeDevices === undefined ? [] : [{ field: 'volumes' as const, message: `${at}.volumeDevices` }]),
    ...listOf(container['volumeMounts'])
      .filter(({ mountPropagation }) => mountPropagation !== undefined)
      .map(({ mountPath }) => ({
        field: 'volumeMounts' as const,
        message: `${at}.volumeMounts ${shown(mountPath)}, by its propagation`,
      })),
  ];
}

function volumeFaults(
  volume: JsonObject,
  ours: JsonObject | undefined,
  secrets: ReadonlySet<string>,
): readonly PodFault[] {
  if (ours && isDeepStrictEqual(ours, volume)) return [];
  const at = `spec.volumes[${shown(volume['name'])}]`;
  const types = Object.keys(volume).filter((key) => key !== 'name');
  // A folder of the operator with another size is the same volume.
  if (ours && !(types.length === 1 && types[0] === 'emptyDir' && ours['emptyDir'] !== undefined))
    return [{ field: 'volumes', message: `${at}, which the operator makes` }];
  return types.flatMap((type) => volumeTypeFaults(type, objectOf(volume[type]), secrets, at));
}

function volumeTypeFaults(
  type: string,
  source: JsonObject,
  secrets: ReadonlySet<string>,
  at: string,
  inProjected = false,
): readonly PodFault[] {
  if (['emptyDir', 'configMap', 'downwardAPI'].includes(type)) return [];
  if (type === 'secret') return secretFault(source[inProjected ? 'name' : 'secretName'], secrets, at);
  if (type === 'projected')
    return listOf(source['sources']).flatMap((each) =>
      Object.keys(each).flatMap((inner) => volumeTypeFaults(inner, objectOf(each[inner]), secrets, at, true)),
    );
  return [
    { field: type === 'hostPath' ? 'hostPath' : 'volumes', message: `${at}.${type}` },
    ...secretsIn(source).flatMap((name) => secretFault(name, secrets, `${at}.${type}`)),
  ];
}

/** Names of Secrets that a source refers to, by whatever field: csi, flexVolume, iscsi and the like. */
function secretsIn(source: JsonObject): readonly Json[] {
  return Object.entries(source).flatMap(([key, value]) => {
    if (/secretname$/i.test(key) && value !== undefined) return [value];
    if (!isObject(value)) return [];
    return /secretref$/i.test(key) ? [value['name'] ?? null] : secretsIn(value);
  });
}

/** Refuses a Secret that the project's own fields do not name, if grants are required; no option allows it. */
function secretFault(name: Json | undefined, secrets: ReadonlySet<string>, at: string): readonly PodFault[] {
  if (typeof name === 'string' && secrets.has(name)) return [];
  return [{ field: 'secret', message: `${at} names Secret "${shown(name)}"` }];
}

/** Returns text for a name or number that may be any JSON. */
function shown(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function named(list: Json | undefined, name: Json | undefined): JsonObject | undefined {
  return listOf(list).find((each) => each['name'] === name);
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((each) => isObject(each)) : [];
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
