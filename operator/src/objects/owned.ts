/**
 * The objects beside its artifact that a GatewayProject owns: one row each, by which they are made, kept and removed.
 */
import type { Revision } from '../api/gateway-project.ts';
import {
  autoscalers,
  configMaps,
  type GatewayProject,
  httpRoutes,
  ingresses,
  networkPolicies,
  podDisruptionBudgets,
  podMonitors,
  serviceAccounts,
  services,
  workloads,
} from '../api/resources.ts';
import type { KubeObject, Resource } from '../kube/kube-object.ts';
import { autoscaler } from './autoscaler.ts';
import { type Canary, canaryWorkload } from './canary-workload.ts';
import { dashboard, dashboardName } from './dashboard.ts';
import { httpRoute, ingress } from './exposure.ts';
import { canaryName, gatewayName } from './names.ts';
import { networkPolicy } from './network-policy.ts';
import { hasDisruptionBudget, podDisruptionBudget } from './pod-disruption-budget.ts';
import { podMonitor } from './pod-monitor.ts';
import { service } from './service.ts';
import { serviceAccount } from './service-account.ts';
import { type WorkloadSettings, workload } from './workload.ts';

/** Input from which objects are built, beside their project. */
export interface OwnedContext extends WorkloadSettings {
  /** Namespace of the operator, for the NetworkPolicy. */
  readonly operatorNamespace: string;
  /** The revision that pods start with; absent while there is nothing to serve. */
  readonly revision?: Revision;
  /** The revision that is tried beside it. */
  readonly canary?: Canary;
}

export interface OwnedObject {
  readonly resource: Resource<KubeObject>;
  /** Name of the project's one; two rows of one resource have different names. */
  readonly name: (project: GatewayProject) => string;
  /**
   * Whether the project's spec may request it in any state: then somebody else's object of its name is an obstacle.
   * Default: always.
   */
  readonly wanted?: (project: GatewayProject) => boolean;
  /** Returns the object; undefined if it shall not exist. */
  readonly build: (project: GatewayProject, context: OwnedContext) => KubeObject | undefined;
  /** The cluster may lack the kind: then everything else continues, and the object is made once the kind exists. */
  readonly optionalApi?: true;
  /** Traffic flows through it: if nothing is built, an existing object is left as it is. Default: it is removed. */
  readonly vital?: true;
}

/** In the order in which they are created. */
export const OWNED: readonly OwnedObject[] = [
  { resource: serviceAccounts, name: gatewayName, build: serviceAccount, vital: true },
  { resource: services, name: gatewayName, build: service, vital: true },
  {
    resource: networkPolicies,
    name: gatewayName,
    wanted: ({ spec }) => spec.networkPolicy.enabled,
    build: (project, { operatorNamespace }) => networkPolicy(project, operatorNamespace),
  },
  {
    resource: podDisruptionBudgets,
    name: gatewayName,
    wanted: hasDisruptionBudget,
    build: podDisruptionBudget,
  },
  {
    resource: workloads,
    name: gatewayName,
    build: (project, context) => context.revision && workload(project, context.revision, context),
    vital: true,
  },
  {
    resource: workloads,
    name: canaryName,
    build: (project, context) => context.canary && canaryWorkload(project, context.canary, context),
  },
  {
    resource: autoscalers,
    name: gatewayName,
    wanted: ({ spec }) => spec.pods.autoscaling !== undefined,
    build: autoscaler,
  },
  {
    resource: ingresses,
    name: gatewayName,
    wanted: ({ spec }) => spec.exposure.ingress !== undefined,
    build: ingress,
  },
  {
    resource: httpRoutes,
    name: gatewayName,
    wanted: ({ spec }) => spec.exposure.httpRoute !== undefined,
    build: httpRoute,
    optionalApi: true,
  },
  {
    resource: podMonitors,
    name: gatewayName,
    wanted: ({ spec }) => spec.monitoring.podMonitor !== undefined,
    build: podMonitor,
    optionalApi: true,
  },
  {
    resource: configMaps,
    name: dashboardName,
    wanted: ({ spec }) => spec.monitoring.dashboard !== undefined,
    build: dashboard,
  },
];

/** Their resources, each once. */
export const ownedResources: readonly Resource<KubeObject>[] = [...new Set(OWNED.map(({ resource }) => resource))];
/** Kinds of APIs that a cluster may lack. */
export const optionalResources: ReadonlySet<Resource<KubeObject>> = new Set(
  OWNED.filter(({ optionalApi }) => optionalApi).map(({ resource }) => resource),
);

/** Returns the objects to apply, in this order, and the existing ones to remove, which have other names. */
export function ownedObjects(
  project: GatewayProject,
  context: OwnedContext,
  existing: readonly KubeObject[],
): { readonly apply: readonly KubeObject[]; readonly remove: readonly KubeObject[] } {
  const apply: KubeObject[] = [];
  const unwanted = new Set<string>();
  for (const { resource, name, wanted, build, vital } of OWNED) {
    const object = (wanted?.(project) ?? true) ? build(project, context) : undefined;
    if (object) apply.push(object);
    else if (!vital) unwanted.add(id(resource.kind, name(project)));
  }
  return { apply, remove: existing.filter(({ kind, metadata }) => unwanted.has(id(kind, metadata.name))) };
}

/** Reports whether the gateway requires this object of a project. */
export function isVital(project: GatewayProject, { kind, metadata }: KubeObject): boolean {
  return OWNED.some((row) => row.vital && row.resource.kind === kind && row.name(project) === metadata.name);
}

function id(kind: string, name: string): string {
  return `${kind}/${name}`;
}
