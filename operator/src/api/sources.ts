/**
 * Where documents and plugins come from that are not in the cluster. The operator fetches them, through the egress
 * guard (docs/decisions.md#references-stay-inside).
 */
import type { Schema } from './schema.ts';
import { dataKey, objectName } from './shared.ts';

/** A key of a Secret in the same namespace. */
export const secretKey = {
  type: 'object',
  required: ['name', 'key'],
  properties: { name: objectName, key: dataKey },
} as const satisfies Schema;

const intervalSeconds = {
  type: 'integer',
  minimum: 10,
  maximum: 86400,
  default: 300,
  description: 'Seconds between looking again.',
} as const satisfies Schema;

export const ociSource = {
  type: 'object',
  required: ['reference'],
  description:
    'An OCI artifact or image. Its layers are the files: by their title annotation, or unpacked where they are tar archives; a bare WebAssembly module needs no title. 32 MiB in all. A tag is looked at again; a digest is not.',
  properties: {
    reference: {
      type: 'string',
      minLength: 3,
      maxLength: 512,
      pattern: '^[a-zA-Z0-9.-]+(:[0-9]+)?/[a-z0-9._/-]+(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?$',
      description: 'REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@sha256:DIGEST.',
    },
    pullSecret: { ...objectName, description: 'Secret of type kubernetes.io/dockerconfigjson.' },
    plainHttp: {
      type: 'boolean',
      default: false,
      description: 'Speaks HTTP to the registry; refused unless the operator allows it for that registry.',
    },
    intervalSeconds,
  },
} as const satisfies Schema;

export const urlSource = {
  type: 'object',
  required: ['url'],
  description:
    'A file at an https:// URL, or a .tar, .tar.gz or .tgz archive of several, of at most 32 MiB, which must have the sha256 that is given, or that is found at sha256Url.',
  properties: {
    url: { type: 'string', minLength: 9, maxLength: 2048, pattern: '^https?://' },
    sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Of the file, in hex. It is then fetched once.' },
    sha256Url: {
      type: 'string',
      minLength: 9,
      maxLength: 2048,
      pattern: '^https?://',
      description:
        'Where the sha256 is found, in the form of sha256sum; looked at again, and the file when it changes.',
    },
    authorization: { ...secretKey, description: 'The value of the Authorization header, for url and sha256Url.' },
    intervalSeconds,
  },
  'x-kubernetes-validations': [
    { rule: 'has(self.sha256) != has(self.sha256Url)', message: 'exactly one of sha256 and sha256Url must be set' },
  ],
} as const satisfies Schema;

/** What became of a source that is fetched. */
export const fetched = {
  type: 'object',
  description: 'What was fetched last from an OCI registry or URL.',
  properties: {
    digest: { type: 'string', description: 'Digest of the manifest, or sha256 of the file.' },
    fetchedAt: { type: 'string', format: 'date-time' },
  },
} as const satisfies Schema;
