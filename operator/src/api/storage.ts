/** Storage of the artifacts of a GatewayProject (docs/reference/kinds.md#storage). */
import type { Schema } from './schema.ts';
import { objectName } from './shared.ts';

export const storageSchema = {
  type: 'object',
  // With its type, since the rule below is checked on the default, too.
  default: { type: 'ConfigMap' },
  description: 'Where artifacts are stored: in up to eight ConfigMaps of at most 900 KiB each, or in an OCI registry.',
  properties: {
    type: { type: 'string', enum: ['ConfigMap', 'OCI'], default: 'ConfigMap' },
    oci: {
      type: 'object',
      required: ['repository'],
      properties: {
        repository: {
          type: 'string',
          minLength: 3,
          maxLength: 400,
          pattern: '^[a-zA-Z0-9.-]+(:[0-9]+)?/[a-z0-9._/-]+$',
          description: 'REGISTRY/REPOSITORY. Images are pushed and mounted by digest.',
        },
        pushSecret: {
          ...objectName,
          description:
            'Secret of type kubernetes.io/dockerconfigjson with which the operator pushes. Default: anonymous.',
        },
        pullSecret: {
          ...objectName,
          description:
            'Secret of the same type with which pods pull; it needs no permission to push. Default: pods.imagePullSecrets.',
        },
        plainHttp: {
          type: 'boolean',
          default: false,
          description: 'Uses plain HTTP for the registry, which the operator must allow.',
        },
        mount: {
          type: 'string',
          enum: ['Auto', 'ImageVolume', 'InitContainer'],
          default: 'Auto',
          description:
            'How pods obtain the artifact: as an image volume, or copied by an init container. Auto: an image volume if the cluster supports them.',
        },
      },
    },
  },
  'x-kubernetes-validations': [{ rule: "self.type != 'OCI' || has(self.oci)", message: 'type OCI requires oci' }],
} as const satisfies Schema;
