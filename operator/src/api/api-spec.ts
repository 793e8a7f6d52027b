import type { FromSchema, KindDefinition, Schema } from './schema.ts';
import {
  ageColumn,
  conditionColumn,
  conditions,
  dataKey,
  diagnostics,
  hashColumns,
  objectName,
  reasonColumn,
  shortHash,
} from './shared.ts';
import { fetched, ociSource, urlSource } from './sources.ts';

/** `kubectl apply` keeps a copy in an annotation of at most 256 KiB, so a longer document goes into a ConfigMap. */
const MAX_INLINE = 200 * 1024;

const spec = {
  type: 'object',
  required: ['source'],
  properties: {
    file: {
      type: 'string',
      description:
        'File name of the document in diagnostics, in the artifact and under /__gw/specs. Default: the name of the object with ".yaml", or the name that the source gives it. If an OCI artifact or archive contains several files, this selects one, by its path.',
      maxLength: 400,
      pattern: '^([A-Za-z0-9_][-A-Za-z0-9._]*/)*[A-Za-z0-9_][-A-Za-z0-9._]*\\.(ya?ml|json)$',
    },
    source: {
      type: 'object',
      description: 'Source of the document: exactly one of these.',
      properties: {
        inline: {
          type: 'string',
          description: `The document itself, up to ${MAX_INLINE} characters.`,
          minLength: 1,
          maxLength: MAX_INLINE,
        },
        configMap: {
          type: 'object',
          required: ['name'],
          description:
            'A ConfigMap in this namespace. Every key is a file that the document can $ref by its name. Keys NAME.part0, NAME.part1 … are the parts of one file. A file whose name ends in ".gz" is unpacked, and is referred to without that ending.',
          properties: {
            name: objectName,
            more: {
              type: 'array',
              maxItems: 20,
              'x-kubernetes-list-type': 'set',
              items: objectName,
              description:
                'Additional ConfigMaps in this namespace, whose keys are treated as if they were in the first.',
            },
            key: { ...dataKey, description: 'Key of the document. Default: the only file.' },
          },
        },
        oci: ociSource,
        url: urlSource,
      },
      'x-kubernetes-validations': [
        {
          rule: '(has(self.inline) ? 1 : 0) + (has(self.configMap) ? 1 : 0) + (has(self.oci) ? 1 : 0) + (has(self.url) ? 1 : 0) == 1',
          message: 'exactly one of inline, configMap, oci and url must be set',
        },
      ],
    },
  },
} as const satisfies Schema;

const status = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer', minimum: 0 },
    conditions,
    artifactHash: { type: 'string', description: 'The artifact that contains this document and is being served.' },
    shortHash,
    projects: {
      type: 'array',
      description: 'The GatewayProjects that include this document.',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
    },
    fetched,
    diagnostics,
    diagnosticsCount: { type: 'integer', minimum: 0 },
  },
} as const satisfies Schema;

/** One OpenAPI document, and the files that it refers to. */
export const apiSpecKind = {
  kind: 'ApiSpec',
  plural: 'apispecs',
  singular: 'apispec',
  shortNames: ['gwspec'],
  description: 'An OpenAPI or AsyncAPI document and the files that it refers to.',
  spec,
  status,
  columns: [conditionColumn('Ready'), reasonColumn('Ready'), ...hashColumns, ageColumn],
  validations: [],
} as const satisfies KindDefinition;

export type ApiSpecSpec = FromSchema<typeof spec>;
export type ApiSpecStatus = FromSchema<typeof status>;
