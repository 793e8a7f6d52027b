/** Every kind that the operator reads or writes: its own completely, the cluster's as far as it reads them. */
import type { KubeObject, Resource } from '../kube/kube-object.ts';
import { type ApiSpecSpec, type ApiSpecStatus, apiSpecKind } from './api-spec.ts';
import { type DeploymentSpec, type DeploymentStatus, deploymentKind } from './deployment.ts';
import { type GatewayProjectSpec, type GatewayProjectStatus, gatewayProjectKind } from './gateway-project.ts';
import { resource } from './parse.ts';
import { type PluginRefSpec, type PluginRefStatus, pluginRefKind } from './plugin-ref.ts';
import { API_VERSION, type KindDefinition, type Schema } from './schema.ts';

interface Custom<Spec, Status> extends KubeObject {
  readonly spec: Spec;
  readonly status?: Status;
}

export type GatewayProject = Custom<GatewayProjectSpec, GatewayProjectStatus>;
export type ApiSpec = Custom<ApiSpecSpec, ApiSpecStatus>;
export type PluginRef = Custom<PluginRefSpec, PluginRefStatus>;
export type Deployment = Custom<DeploymentSpec, DeploymentStatus>;

/** The four kinds of gw.dev: adding one here makes its CRD, its documentation and its check. */
export const kinds: readonly KindDefinition[] = [gatewayProjectKind, apiSpecKind, pluginRefKind, deploymentKind];

function body<S extends Schema, T extends Schema>(spec: S, status: T) {
  return { type: 'object', required: ['spec'], properties: { spec, status } } as const;
}

export const gatewayProjects: Resource<GatewayProject> = resource(
  API_VERSION,
  gatewayProjectKind.kind,
  gatewayProjectKind.plural,
  body(gatewayProjectKind.spec, gatewayProjectKind.status),
);
export const apiSpecs: Resource<ApiSpec> = resource(
  API_VERSION,
  apiSpecKind.kind,
  apiSpecKind.plural,
  body(apiSpecKind.spec, apiSpecKind.status),
);
export const pluginRefs: Resource<PluginRef> = resource(
  API_VERSION,
  pluginRefKind.kind,
  pluginRefKind.plural,
  body(pluginRefKind.spec, pluginRefKind.status),
);
export const deployments: Resource<Deployment> = resource(
  API_VERSION,
  deploymentKind.kind,
  deploymentKind.plural,
  body(deploymentKind.spec, deploymentKind.status),
);

const strings = { type: 'object', additionalProperties: { type: 'string' } } as const satisfies Schema;
const any = { type: 'object', properties: {} } as const satisfies Schema;

export const configMaps = resource('v1', 'ConfigMap', 'configmaps', {
  type: 'object',
  properties: { data: strings, binaryData: strings, immutable: { type: 'boolean' } },
} as const);

export const secrets = resource('v1', 'Secret', 'secrets', {
  type: 'object',
  properties: { data: strings, type: { type: 'string' } },
} as const);
export type Secret = ReturnType<typeof secrets.parse>;

const containerState = {
  type: 'object',
  properties: {
    waiting: { type: 'object', properties: { reason: { type: 'string' }, message: { type: 'string' } } },
    terminated: {
      type: 'object',
      properties: { exitCode: { type: 'integer' }, reason: { type: 'string' }, message: { type: 'string' } },
    },
  },
} as const satisfies Schema;

export const pods = resource('v1', 'Pod', 'pods', {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        containers: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              ports: {
                type: 'array',
                items: {
                  type: 'object',
                  properties: { name: { type: 'string' }, containerPort: { type: 'integer' } },
                },
              },
            },
          },
        },
      },
    },
    status: {
      type: 'object',
      properties: {
        phase: { type: 'string' },
        podIP: { type: 'string' },
        conditions: {
          type: 'array',
          items: {
            type: 'object',
            required: ['type', 'status'],
            properties: {
              type: { type: 'string' },
              status: { type: 'string' },
              reason: { type: 'string' },
              message: { type: 'string' },
            },
          },
        },
        initContainerStatuses: {
          type: 'array',
          items: { type: 'object', properties: { state: containerState } },
        },
        containerStatuses: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              restartCount: { type: 'integer' },
              state: containerState,
              lastState: containerState,
            },
          },
        },
      },
    },
  },
} as const);
export type Pod = ReturnType<typeof pods.parse>;

/** apps/v1 Deployment, apart from the kind of ours that has the same name. */
export const workloads = resource('apps/v1', 'Deployment', 'deployments', {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { replicas: { type: 'integer' } } },
    status: {
      type: 'object',
      properties: {
        observedGeneration: { type: 'integer' },
        replicas: { type: 'integer' },
        updatedReplicas: { type: 'integer' },
        readyReplicas: { type: 'integer' },
        conditions: {
          type: 'array',
          items: {
            type: 'object',
            required: ['type', 'status'],
            properties: {
              type: { type: 'string' },
              status: { type: 'string' },
              reason: { type: 'string' },
              message: { type: 'string' },
            },
          },
        },
      },
    },
  },
} as const);
export type Workload = ReturnType<typeof workloads.parse>;

/** The endpoints of a Service, which nodes route to. */
export const endpointSlices = resource('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', {
  type: 'object',
  properties: {
    endpoints: {
      type: 'array',
      nullable: true,
      items: {
        type: 'object',
        properties: {
          conditions: { type: 'object', properties: { ready: { type: 'boolean' } } },
          targetRef: { type: 'object', properties: { kind: { type: 'string' }, name: { type: 'string' } } },
        },
      },
    },
  },
} as const);
export type EndpointSlice = ReturnType<typeof endpointSlices.parse>;

export const namespaces = resource('v1', 'Namespace', 'namespaces', any);
export const services = resource('v1', 'Service', 'services', any);
export const serviceAccounts = resource('v1', 'ServiceAccount', 'serviceaccounts', any);
export const networkPolicies = resource('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', any);
export const podDisruptionBudgets = resource('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', any);
export const autoscalers = resource('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', any);
export const ingresses = resource('networking.k8s.io/v1', 'Ingress', 'ingresses', any);
/** Kinds of APIs that a cluster may lack. */
export const httpRoutes = resource('gateway.networking.k8s.io/v1', 'HTTPRoute', 'httproutes', any);
export const podMonitors = resource('monitoring.coreos.com/v1', 'PodMonitor', 'podmonitors', any);
