/** Pieces of schema that several kinds have: conditions, diagnostics, names and references. */
import type { FromSchema, PrinterColumn, Schema } from './schema.ts';

/**
 * Maximum number of diagnostics in a status: an object must stay far below etcd's limit
 * (docs/reference/kinds.md#status).
 */
export const MAX_DIAGNOSTICS = 50;

/** Name of an object in the same namespace. */
export const objectName = {
  type: 'string',
  minLength: 1,
  maxLength: 253,
  pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
} as const satisfies Schema;

/** Key of a ConfigMap or Secret. */
export const dataKey = {
  type: 'string',
  minLength: 1,
  maxLength: 253,
  pattern: '^[-._a-zA-Z0-9]+$',
} as const satisfies Schema;

/** Amounts by resource: cpu, memory and the like. The pattern is that of Kubernetes' own quantities. */
export const quantities = {
  type: 'object',
  additionalProperties: {
    'x-kubernetes-int-or-string': true,
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  },
} as const satisfies Schema;

export const labelSelector = {
  type: 'object',
  description: 'A Kubernetes label selector. An empty selector selects all objects.',
  properties: {
    matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
    matchExpressions: {
      type: 'array',
      maxItems: 32,
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { type: 'string', minLength: 1 },
          operator: { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: { type: 'array', maxItems: 64, items: { type: 'string' } },
        },
      },
    },
  },
} as const satisfies Schema;

export type LabelSelector = FromSchema<typeof labelSelector>;

export const conditions = {
  type: 'array',
  description: 'Conditions of the object; see the table of reasons.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    properties: {
      type: { type: 'string', maxLength: 316 },
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      observedGeneration: { type: 'integer', minimum: 0 },
      lastTransitionTime: { type: 'string', format: 'date-time' },
      reason: { type: 'string', maxLength: 1024 },
      message: { type: 'string', maxLength: 32768 },
    },
  },
} as const satisfies Schema;

export type Condition = FromSchema<typeof conditions>[number];

export const diagnostics = {
  type: 'array',
  description: `Diagnostics of the compiler, errors first; at most ${MAX_DIAGNOSTICS}, \`diagnosticsCount\` is the whole number.`,
  maxItems: MAX_DIAGNOSTICS,
  'x-kubernetes-list-type': 'atomic',
  items: {
    type: 'object',
    required: ['code', 'severity', 'message'],
    properties: {
      code: { type: 'string', description: 'Code of the error reference, such as E1020.' },
      severity: { type: 'string', enum: ['error', 'warning'] },
      message: { type: 'string' },
      hint: { type: 'string', description: 'How to fix it.' },
      apiSpec: { type: 'string', description: 'ApiSpec that the file belongs to.' },
      file: { type: 'string' },
      pointer: { type: 'string', description: 'JSON pointer into the file.' },
      line: { type: 'integer' },
      column: { type: 'integer' },
    },
  },
} as const satisfies Schema;

export type StatusDiagnostic = FromSchema<typeof diagnostics>[number];

/** Returns the column that shows a condition's status. */
export function conditionColumn(type: string): PrinterColumn {
  return { name: type, type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].status` };
}

/** Returns the column that shows a condition's reason. */
export function reasonColumn(type: string): PrinterColumn {
  return { name: 'Reason', type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].reason` };
}

export const ageColumn: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
/** Columns of the artifact: its short hash, and with `-o wide` the whole. */
export const hashColumns: readonly PrinterColumn[] = [
  { name: 'Hash', type: 'string', jsonPath: '.status.shortHash' },
  { name: 'Artifact Hash', type: 'string', jsonPath: '.status.artifactHash', priority: 1 },
];

/** The leading digits of an `artifact_hash`, for people. */
export const shortHash = {
  type: 'string',
  description: 'First twelve digits of artifactHash, for display.',
} as const satisfies Schema;

/** Access that an object grants to other namespaces; without a grant, no other namespace may use it. */
export const allowedNamespaces = {
  type: 'object',
  description:
    'Other namespaces that are allowed to use it: by name, by label, or both. Default: none. A selector requires an operator that watches all namespaces.',
  properties: {
    names: { type: 'array', maxItems: 200, 'x-kubernetes-list-type': 'set', items: objectName },
    selector: labelSelector,
  },
} as const satisfies Schema;
