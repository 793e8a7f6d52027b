/** Where the artifacts of a GatewayProject are kept (docs/reference/kinds.md#storage). */
import type { Schema } from './schema.ts';
import { objectName } from './shared.ts';

export const storageSchema = {
  type: 'object',
  // With its type: the rule below is checked on the default as it stands here.
  default: { type: 'ConfigMap' },
  description: 'Where artifacts are kept: in ConfigMaps of at most 900 KiB, up to eight, or in an OCI registry.',
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
            'Secret of type kubernetes.io/dockerconfigjson that the operator pushes with. Default: anonymous.',
        },
        pullSecret: {
          ...objectName,
          description: 'The same for the pods, which need no right to push. Default: pods.imagePullSecrets.',
        },
        plainHttp: {
          type: 'boolean',
          default: false,
          description: 'Speaks HTTP to the registry; refused unless the operator allows it for that registry.',
        },
        mount: {
          type: 'string',
          enum: ['Auto', 'ImageVolume', 'InitContainer'],
          default: 'Auto',
          description:
            'How pods get it: as an image volume, or copied by an init container. Auto: an image volume where the cluster has them.',
        },
      },
    },
  },
  'x-kubernetes-validations': [{ rule: "self.type != 'OCI' || has(self.oci)", message: 'type OCI needs oci' }],
} as const satisfies Schema;
