/** Puts a sidecar into a pod, as a JSON patch (RFC 6902). Pure. */
import type { GatewayProject } from '../api/resources.ts';
import {
  ANNOTATION_PORT,
  ANNOTATION_PROJECT,
  ANNOTATION_SKIPPED,
  injectedLabel,
  LABEL_INJECTED,
  SKIPPED,
} from './labels.ts';
import type { PodToInject } from './pod.ts';
import { readPodOptions } from './pod-options.ts';
import { SIDECAR, type SidecarSettings, sidecarParts } from './sidecar-container.ts';
import { APP_PORT_NAME, portUses, type TakenPort, takenPort } from './taken-port.ts';

export interface PatchOperation {
  readonly op: 'add' | 'replace';
  readonly path: string;
  readonly value: unknown;
}

export type Injection =
  | { readonly ok: true; readonly patch: readonly PatchOperation[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Ports of the sidecar, unless the pod declares them; then the next ones. */
const TRAFFIC_PORT = 19080;
const ADMIN_PORT = 19081;

/** Reports whether the pod has a sidecar already: another injector may have called us before (reinvocation). */
export function hasSidecar(pod: PodToInject): boolean {
  return (pod.spec.initContainers ?? []).some(({ name }) => name === SIDECAR);
}

/** Returns the port that the sidecar takes; a reason if this pod cannot have a sidecar. */
export function portOf(
  pod: PodToInject,
): ({ readonly ok: true } & TakenPort) | { readonly ok: false; readonly reason: string } {
  const { spec, metadata } = pod;
  const refuse = (reason: string) => ({ ok: false as const, reason });
  if (spec.hostNetwork) return refuse('it uses the network of its node (hostNetwork), whose ports are not its own');
  if (spec.os?.name === 'windows') return refuse('it is for Windows nodes');
  if ([...spec.containers, ...(spec.initContainers ?? [])].some(({ name }) => name === SIDECAR))
    return refuse(`a container of its own is named "${SIDECAR}"`);
  const taken = (spec.volumes ?? []).find(({ name }) => name.startsWith('gw-'));
  if (taken) return refuse(`volume names that begin with "gw-" are reserved for the sidecar: rename "${taken.name}"`);
  return takenPort(pod, metadata.annotations?.[ANNOTATION_PORT]);
}

export function inject(
  pod: PodToInject,
  namespace: string,
  project: GatewayProject,
  settings: SidecarSettings,
): Injection {
  const port = portOf(pod);
  if (!port.ok) return port;
  const { podOptions, problems } = readPodOptions(pod.metadata.annotations);
  const declared = new Set(pod.spec.containers.flatMap(({ ports }) => (ports ?? []).map((each) => each.containerPort)));
  const trafficPort = freePort(TRAFFIC_PORT, declared);
  const adminPort = freePort(ADMIN_PORT, declared.add(trafficPort));
  const place = { namespace, trafficPort, adminPort, portName: port.name, appPort: port.number };
  const parts = sidecarParts(project, place, podOptions, settings);
  const key = { namespace: project.metadata.namespace ?? namespace, name: project.metadata.name };
  const patch = [
    ...renamedPort(pod, port),
    ...appended('/spec/initContainers', pod.spec.initContainers, [parts.container]),
    ...appended('/spec/volumes', pod.spec.volumes, parts.volumes),
    ...appended('/spec/imagePullSecrets', pod.spec.imagePullSecrets, missingSecrets(pod, parts.imagePullSecrets)),
    ...marked('labels', pod.metadata.labels, LABEL_INJECTED, injectedLabel(key)),
    ...marked('annotations', pod.metadata.annotations, ANNOTATION_PROJECT, `${key.namespace}/${key.name}`),
  ];
  return { ok: true, patch, warnings: [...port.warnings, ...problems] };
}

/** Marks a pod whose namespace requests a sidecar that it cannot have, so that it does not count as missed. */
export function skip(pod: PodToInject, reason: string): readonly PatchOperation[] {
  return [
    ...marked('labels', pod.metadata.labels, LABEL_INJECTED, SKIPPED),
    ...marked('annotations', pod.metadata.annotations, ANNOTATION_SKIPPED, reason),
  ];
}

/** Services look up the name, and find the sidecar's; probes and hooks still reach the app. */
function renamedPort(pod: PodToInject, port: TakenPort): readonly PatchOperation[] {
  const at = `/spec/containers/${port.container}`;
  const container = pod.spec.containers[port.container]!;
  return [
    { op: 'replace', path: `${at}/ports/${port.port}/name`, value: APP_PORT_NAME },
    ...portUses(container, port.name).map((use) => ({ op: 'replace', path: at + use, value: port.number }) as const),
  ];
}

function appended(
  path: string,
  existing: readonly unknown[] | undefined,
  values: readonly unknown[],
): readonly PatchOperation[] {
  if (values.length === 0) return [];
  return existing
    ? values.map((value) => ({ op: 'add', path: `${path}/-`, value }))
    : [{ op: 'add', path, value: values }];
}

function marked(
  what: 'labels' | 'annotations',
  existing: { readonly [name: string]: string } | undefined,
  name: string,
  value: string,
): readonly PatchOperation[] {
  const path = `/metadata/${what}`;
  if (!existing) return [{ op: 'add', path, value: { [name]: value } }];
  return [{ op: 'add', path: `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value }];
}

function missingSecrets(pod: PodToInject, names: readonly string[]): readonly object[] {
  const there = new Set((pod.spec.imagePullSecrets ?? []).map(({ name }) => name));
  return names.filter((name) => !there.has(name)).map((name) => ({ name }));
}

function freePort(from: number, taken: ReadonlySet<number>): number {
  let port = from;
  while (taken.has(port)) port++;
  return port;
}
