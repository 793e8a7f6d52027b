/** The part of a pod that the injector reads. Changes are patches, so all other fields stay as they are. */
import { Ajv } from 'ajv';
import type { FromSchema, Schema } from '../api/schema.ts';

const port = {
  type: 'object',
  required: ['containerPort'],
  properties: {
    name: { type: 'string' },
    containerPort: { type: 'integer' },
    hostPort: { type: 'integer' },
    protocol: { type: 'string' },
  },
} as const satisfies Schema;

/** `httpGet`, `tcpSocket` and others, which may name a port. */
const action = {
  type: 'object',
  properties: {
    httpGet: { type: 'object', properties: { port: { 'x-kubernetes-int-or-string': true } } },
    tcpSocket: { type: 'object', properties: { port: { 'x-kubernetes-int-or-string': true } } },
  },
} as const satisfies Schema;

const container = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    restartPolicy: { type: 'string' },
    ports: { type: 'array', items: port },
    startupProbe: action,
    readinessProbe: action,
    livenessProbe: action,
    lifecycle: { type: 'object', properties: { postStart: action, preStop: action } },
  },
} as const satisfies Schema;

const strings = { type: 'object', additionalProperties: { type: 'string' } } as const satisfies Schema;

const schema = {
  type: 'object',
  required: ['metadata', 'spec'],
  properties: {
    metadata: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        generateName: { type: 'string' },
        labels: strings,
        annotations: strings,
      },
    },
    spec: {
      type: 'object',
      required: ['containers'],
      properties: {
        containers: { type: 'array', items: container },
        initContainers: { type: 'array', items: container },
        volumes: {
          type: 'array',
          items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
        },
        imagePullSecrets: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
        hostNetwork: { type: 'boolean' },
        os: { type: 'object', properties: { name: { type: 'string' } } },
      },
    },
  },
} as const satisfies Schema;

export type PodToInject = FromSchema<typeof schema>;
export type Container = PodToInject['spec']['containers'][number];

const isPod = new Ajv({ strict: false, validateFormats: false }).compile<PodToInject>(schema);

/** Returns undefined if the value is not a pod. */
export function readPod(value: unknown): PodToInject | undefined {
  return isPod(value) ? value : undefined;
}
