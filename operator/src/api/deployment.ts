import type { FromSchema, KindDefinition, Schema } from './schema.ts';
import { ageColumn, conditionColumn, conditions, hashColumns, objectName, reasonColumn, shortHash } from './shared.ts';

const ignored = "Accepted and ignored: Kustomize's transformers put it into every kind of this name.";

const spec = {
  type: 'object',
  required: ['project', 'artifact'],
  properties: {
    project: { ...objectName, description: 'The GatewayProject, in this namespace.' },
    artifact: {
      type: 'object',
      description: 'What to roll out: exactly one of these. To roll back, name an older revision.',
      properties: {
        hash: {
          type: 'string',
          pattern: '^sha256:[0-9a-f]{64}$',
          description: 'artifact_hash of a revision that is kept.',
        },
        revision: {
          type: 'integer',
          minimum: 1,
          description: 'Number of a revision that is kept, from status.revisions of the project.',
        },
        latest: {
          type: 'boolean',
          description: 'Always the newest artifact that compiles.',
        },
      },
      'x-kubernetes-validations': [
        {
          rule: '(has(self.hash) ? 1 : 0) + (has(self.revision) ? 1 : 0) + (has(self.latest) && self.latest ? 1 : 0) == 1',
          message: 'exactly one of hash, revision and latest must be set',
        },
      ],
    },
    replicas: { type: 'integer', description: ignored },
    selector: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: ignored },
    template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: ignored },
  },
} as const satisfies Schema;

const status = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer', minimum: 0 },
    conditions,
    artifactHash: { type: 'string', description: 'artifact_hash that this Deployment resolves to.' },
    shortHash,
    revision: { type: 'integer', minimum: 1, description: 'Number of its revision.' },
    outcome: {
      type: 'string',
      enum: ['Pending', 'Progressing', 'Succeeded', 'Failed', 'Superseded'],
      description: 'State of the rollout, or how it ended.',
    },
    pods: {
      type: 'object',
      properties: {
        updated: { type: 'integer', minimum: 0, description: 'Number of ready pods that serve this artifact.' },
        total: { type: 'integer', minimum: 0, description: 'Desired number of pods.' },
      },
    },
    completedAt: {
      type: 'string',
      format: 'date-time',
      description: 'When all ready pods first served it.',
    },
  },
} as const satisfies Schema;

/** One artifact rolled to one project (docs/decisions.md#newest-deployment-wins). */
export const deploymentKind = {
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
  shortNames: ['gwdeploy'],
  description:
    'Rolls one artifact out to a project: a hash, a revision or the latest. If a project has several Deployments, the newest takes effect.',
  spec,
  status,
  columns: [
    { name: 'Project', type: 'string', jsonPath: '.spec.project' },
    { name: 'Outcome', type: 'string', jsonPath: '.status.outcome' },
    conditionColumn('Ready'),
    reasonColumn('Ready'),
    { name: 'Revision', type: 'integer', jsonPath: '.status.revision' },
    ...hashColumns,
    ageColumn,
  ],
  validations: [],
} as const satisfies KindDefinition;

export type DeploymentSpec = FromSchema<typeof spec>;
export type DeploymentStatus = FromSchema<typeof status>;
