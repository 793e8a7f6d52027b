/**
 * Sources of documents and plugins outside the cluster. The operator fetches them, through the egress guard
 * (docs/decisions.md#references-stay-inside).
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
  description: 'Polling interval in seconds.',
} as const satisfies Schema;

export const ociSource = {
  type: 'object',
  required: ['reference'],
  description:
    'An OCI artifact or image. Its layers are the files: named by their title annotation, or unpacked if they are tar archives; a bare WebAssembly module needs no title. At most 32 MiB in total. Tags are polled; digests are not.',
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
      description: 'Uses plain HTTP for the registry, which the operator must allow.',
    },
    intervalSeconds,
  },
} as const satisfies Schema;

export const urlSource = {
  type: 'object',
  required: ['url'],
  description:
    'A file at an https:// URL, or a .tar, .tar.gz or .tgz archive of several files, at most 32 MiB. Its SHA-256 must match sha256, or the one found at sha256Url.',
  properties: {
    url: { type: 'string', minLength: 9, maxLength: 2048, pattern: '^https?://' },
    sha256: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of the file, in hex. The file is then fetched only once.',
    },
    sha256Url: {
      type: 'string',
      minLength: 9,
      maxLength: 2048,
      pattern: '^https?://',
      description:
        'URL of the SHA-256, in the format of sha256sum. It is polled, and the file is fetched again when it changes.',
    },
    authorization: { ...secretKey, description: 'Value of the Authorization header, for url and sha256Url.' },
    intervalSeconds,
  },
  'x-kubernetes-validations': [
    { rule: 'has(self.sha256) != has(self.sha256Url)', message: 'exactly one of sha256 and sha256Url must be set' },
  ],
} as const satisfies Schema;

/** Result of the last fetch of a source. */
export const fetched = {
  type: 'object',
  description: 'Last content fetched from an OCI registry or URL.',
  properties: {
    digest: { type: 'string', description: 'Digest of the manifest, or SHA-256 of the file.' },
    fetchedAt: { type: 'string', format: 'date-time' },
  },
} as const satisfies Schema;
