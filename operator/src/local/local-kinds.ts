/** The parts of workloads and Services that only local mode reads: enough to run them as processes. */
import { resource } from '../api/parse.ts';
import type { FromSchema, Schema } from '../api/schema.ts';

const strings = { type: 'object', additionalProperties: { type: 'string' } } as const satisfies Schema;
const portNumber = { 'x-kubernetes-int-or-string': true } as const satisfies Schema;
const named = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' } },
} as const satisfies Schema;
const keyOfNamed = {
  type: 'object',
  required: ['name', 'key'],
  properties: { name: { type: 'string' }, key: { type: 'string' } },
} as const satisfies Schema;

const container = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    image: { type: 'string' },
    command: { type: 'array', items: { type: 'string' } },
    args: { type: 'array', items: { type: 'string' } },
    env: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          value: { type: 'string' },
          valueFrom: { type: 'object', properties: { secretKeyRef: keyOfNamed, configMapKeyRef: keyOfNamed } },
        },
      },
    },
    envFrom: { type: 'array', items: { type: 'object', properties: { secretRef: named, configMapRef: named } } },
    ports: {
      type: 'array',
      items: {
        type: 'object',
        required: ['containerPort'],
        properties: { name: { type: 'string' }, containerPort: { type: 'integer' } },
      },
    },
    readinessProbe: {
      type: 'object',
      properties: {
        httpGet: { type: 'object', properties: { path: { type: 'string' }, port: portNumber } },
      },
    },
    volumeMounts: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'mountPath'],
        properties: { name: { type: 'string' }, mountPath: { type: 'string' } },
      },
    },
  },
} as const satisfies Schema;

const podSpec = {
  type: 'object',
  required: ['containers'],
  properties: {
    terminationGracePeriodSeconds: { type: 'integer' },
    containers: { type: 'array', minItems: 1, items: container },
    volumes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          configMap: named,
          secret: { type: 'object', required: ['secretName'], properties: { secretName: { type: 'string' } } },
          projected: {
            type: 'object',
            properties: {
              sources: { type: 'array', items: { type: 'object', properties: { configMap: named, secret: named } } },
            },
          },
        },
      },
    },
  },
} as const satisfies Schema;

const template = {
  type: 'object',
  required: ['spec'],
  properties: {
    metadata: { type: 'object', default: {}, properties: { labels: strings, annotations: strings } },
    spec: podSpec,
  },
} as const satisfies Schema;

export type PodSpec = FromSchema<typeof podSpec>;
export type Container = PodSpec['containers'][number];

/** apps/v1 Deployment, with the pods that it describes. */
export const runnableWorkloads = resource('apps/v1', 'Deployment', 'deployments', {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['template'],
      properties: { replicas: { type: 'integer', minimum: 0, default: 1 }, template },
    },
  },
} as const);
export type RunnableWorkload = ReturnType<typeof runnableWorkloads.parse>;

export const reachableServices = resource('v1', 'Service', 'services', {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      properties: {
        selector: strings,
        ports: {
          type: 'array',
          items: {
            type: 'object',
            required: ['port'],
            properties: { name: { type: 'string' }, port: { type: 'integer' }, targetPort: portNumber },
          },
        },
      },
    },
  },
} as const);
export type ReachableService = ReturnType<typeof reachableServices.parse>;
