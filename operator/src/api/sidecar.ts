/** A GatewayProject that is served by sidecars of applications' pods (docs/decisions.md#later-artifacts-over-link). */

import type { Schema } from './schema.ts';
import { allowedNamespaces, quantities } from './shared.ts';

export const sidecarSchema = {
  type: 'object',
  default: {},
  description:
    'Sidecars, in pods that have the label gw.dev/sidecar: "true", or whose namespace has it, and that name this project in the annotation gw.dev/project.',
  properties: {
    allowedNamespaces,
    resources: {
      type: 'object',
      default: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } },
      description: 'Requests and limits of the sidecar. A pod can override them by annotation.',
      properties: { requests: quantities, limits: quantities },
    },
  },
} as const satisfies Schema;

export const sidecarStatus = {
  type: 'object',
  description: 'Sidecars of this project, in all namespaces.',
  properties: {
    pods: { type: 'integer', minimum: 0, description: 'Number of pods with a sidecar.' },
    connected: { type: 'integer', minimum: 0, description: 'Number of sidecars that are connected to the operator.' },
    missing: { type: 'integer', minimum: 0, description: 'Number of pods that request a sidecar and do not have one.' },
    byHash: {
      type: 'array',
      maxItems: 20,
      'x-kubernetes-list-type': 'atomic',
      description: 'Connected sidecars by the artifact that they serve, the most frequent first.',
      items: {
        type: 'object',
        required: ['count'],
        properties: {
          artifactHash: { type: 'string', description: 'Absent for sidecars that do not serve one yet.' },
          count: { type: 'integer', minimum: 1 },
        },
      },
    },
  },
} as const satisfies Schema;
