/** The app's port that the sidecar stands in front of: Services find it by its name, which moves to the sidecar. */
import type { Container, PodToInject } from './pod.ts';

/** Default port name of Services. */
const DEFAULT_NAME = 'http';
/** The name that the app's own port gets. */
export const APP_PORT_NAME = 'gw-app';

export interface TakenPort {
  readonly name: string;
  readonly number: number;
  /** Places among the pod's containers and the container's ports. */
  readonly container: number;
  readonly port: number;
  readonly warnings: readonly string[];
}

export type PortChoice = ({ readonly ok: true } & TakenPort) | { readonly ok: false; readonly reason: string };

/** Returns the port of that name; without one `http`, else the only TCP port with a name. */
export function takenPort(pod: PodToInject, wanted: string | undefined): PortChoice {
  const named = pod.spec.containers.flatMap((each, container) =>
    (each.ports ?? []).flatMap((port, index) =>
      port.name !== undefined && (port.protocol ?? 'TCP') === 'TCP'
        ? [{ name: port.name, number: port.containerPort, hostPort: port.hostPort, container, port: index }]
        : [],
    ),
  );
  const refuse = (reason: string): PortChoice => ({ ok: false, reason });
  const name = wanted ?? (named.some((port) => port.name === DEFAULT_NAME) ? DEFAULT_NAME : named[0]?.name);
  if (wanted === undefined && name !== DEFAULT_NAME && named.length > 1)
    return refuse(
      `it has several named ports (${named.map((port) => port.name).join(', ')}) and none is "http": choose one by annotation gw.dev/port`,
    );
  const found = named.filter((port) => port.name === name);
  const [first] = found;
  if (name === undefined || !first)
    return refuse(
      `${wanted === undefined ? 'it has no TCP port with a name' : `it has no TCP port named "${wanted}"`}: Services reach a sidecar by a named targetPort, so give the container port a name and the Service that name`,
    );
  if (found.length > 1) return refuse(`two of its ports are named "${name}"`);
  if (name === APP_PORT_NAME) return refuse(`the name "${APP_PORT_NAME}" is reserved for the sidecar: rename the port`);
  const { hostPort, ...rest } = first;
  const warnings = hostPort ? [`hostPort ${hostPort} bypasses the gw sidecar`] : [];
  return { ok: true, ...rest, warnings };
}

/** Returns pointers, within the container, of the uses of that port name, which must still lead to the app. */
export function portUses(container: Container, name: string): readonly string[] {
  const actions = [
    ...(['startupProbe', 'readinessProbe', 'livenessProbe'] as const).map(
      (key) => [`/${key}`, container[key]] as const,
    ),
    ...(['postStart', 'preStop'] as const).map((key) => [`/lifecycle/${key}`, container.lifecycle?.[key]] as const),
  ];
  return actions.flatMap(([at, action]) =>
    (['httpGet', 'tcpSocket'] as const)
      .filter((kind) => action?.[kind]?.port === name)
      .map((kind) => `${at}/${kind}/port`),
  );
}
