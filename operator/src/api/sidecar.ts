/** A GatewayProject that is served by sidecars of applications' pods (docs/decisions.md#later-artifacts-over-link). */
import { allowedNamespaces } from './grants.ts';
import type { Schema } from './schema.ts';
import { quantities } from './shared.ts';

export const sidecarSchema = {
  type: 'object',
  default: {},
  description:
    'Sidecars: pods that carry the label gw.dev/sidecar: "true", or whose namespace does, and name this project in the annotation gw.dev/project.',
  properties: {
    allowedNamespaces,
    resources: {
      type: 'object',
      default: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } },
      description: 'Requests and limits of the sidecar; a pod may say otherwise by annotation.',
      properties: { requests: quantities, limits: quantities },
    },
  },
} as const satisfies Schema;

export const sidecarStatus = {
  type: 'object',
  description: 'Sidecars of this project, of all namespaces.',
  properties: {
    pods: { type: 'integer', minimum: 0, description: 'Pods that have one.' },
    connected: { type: 'integer', minimum: 0, description: 'Those that hold the link to the operator.' },
    missing: { type: 'integer', minimum: 0, description: 'Pods that ask for one and have none.' },
    byHash: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      description: 'Connected ones by the artifact that they serve, most first.',
      items: {
        type: 'object',
        required: ['count'],
        properties: {
          artifactHash: { type: 'string', description: 'Absent for those that serve none yet.' },
          count: { type: 'integer', minimum: 1 },
        },
      },
    },
  },
} as const satisfies Schema;
