import { mcpSchema } from '@gw/gateway/mcp-settings';
import { controlPlaneSchema, controlPlaneStatus } from './control-plane.ts';
import { exposureSchema, monitoringSchema, tlsSchema } from './exposure.ts';
import { networkPolicySchema, podsSchema, secretsSchema, serveSchema, serviceSchema } from './gateway-pods.ts';
import { pluginName } from './plugin-ref.ts';
import { failedStatus, measuredFaults, rolloutSchema, rolloutStatus } from './rollout.ts';
import type { FromSchema, KindDefinition, Schema } from './schema.ts';
import {
  ageColumn,
  conditionColumn,
  conditions,
  diagnostics,
  hashColumns,
  labelSelector,
  objectName,
  reasonColumn,
  shortHash,
} from './shared.ts';
import { sidecarSchema, sidecarStatus } from './sidecar.ts';
import { secretKey } from './sources.ts';
import { storageSchema } from './storage.ts';

const spec = {
  type: 'object',
  required: ['specs'],
  properties: {
    specs: {
      type: 'object',
      description: 'The ApiSpecs in this namespace that are compiled together: by name, by label, or both.',
      properties: {
        names: { type: 'array', maxItems: 500, 'x-kubernetes-list-type': 'set', items: objectName },
        selector: labelSelector,
      },
      'x-kubernetes-validations': [
        { rule: 'has(self.names) || has(self.selector)', message: 'names or selector must be set' },
      ],
    },
    plugins: {
      type: 'array',
      description:
        'All plugins that the specs use, by the name under which they use them. A plugin without a PluginRef is a built-in one.',
      maxItems: 200,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: pluginName,
          pluginRef: {
            ...objectName,
            description:
              'The PluginRef of the plugin. Default: a matching PluginRef of pluginSelector, or else the built-in plugin.',
          },
          namespace: {
            ...objectName,
            description:
              'Namespace of the PluginRef, which must allow this one (spec.allowedNamespaces). Default: this namespace.',
          },
          version: { type: 'string', maxLength: 64, description: 'Required version. Default: any.' },
          config: {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            description:
              "Config for the whole project. It overrides the plugin's defaults and is overridden by an operation's config.",
          },
        },
      },
    },
    pluginSelector: { ...labelSelector, description: 'PluginRefs to include in addition to the listed plugins.' },
    upstreams: {
      type: 'object',
      description: 'Named upstreams: config can refer to them as upstream://NAME instead of a URL.',
      maxProperties: 500,
      additionalProperties: {
        type: 'object',
        required: ['url'],
        properties: { url: { type: 'string', minLength: 1, maxLength: 2048 } },
      },
    },
    mcp: mcpSchema,
    allowPlaintext: {
      type: 'boolean',
      default: false,
      description:
        'Allows http:// upstreams. The build is then not a production build; the reference of compile errors lists what that relaxes.',
    },
    egress: {
      type: 'object',
      properties: {
        allow: {
          type: 'array',
          description:
            'Addresses (CIDR) and host names that plugins are allowed to connect to, in addition to public addresses. Services in the cluster need an entry.',
          maxItems: 200,
          'x-kubernetes-list-type': 'set',
          items: { type: 'string', minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:/*_-]+$' },
        },
      },
    },
    signing: {
      type: 'object',
      description: 'Signs artifacts, and makes pods reject artifacts that no trusted key has signed.',
      properties: {
        keySecret: {
          type: 'object',
          required: ['name'],
          description:
            'The Ed25519 private key (PKCS#8, PEM), in a Secret in this namespace. Its public key is trusted implicitly.',
          properties: {
            name: objectName,
            key: { type: 'string', minLength: 1, maxLength: 253, default: 'signing.pem' },
          },
        },
        trustedKeys: {
          type: 'array',
          description: 'Ed25519 public keys in hex.',
          maxItems: 20,
          'x-kubernetes-list-type': 'set',
          items: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
        },
        trustedKeySecrets: {
          type: 'array',
          description:
            'Keys of Secrets that contain additional public keys, in hex or PEM, one after another. A private key is also accepted, such as the previous one after a rotation: its public key is trusted.',
          maxItems: 20,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'key'],
          items: secretKey,
        },
      },
    },
    storage: storageSchema,
    rollout: rolloutSchema,
    secrets: secretsSchema,
    pods: podsSchema,
    sidecar: sidecarSchema,
    tls: tlsSchema,
    service: serviceSchema,
    exposure: exposureSchema,
    monitoring: monitoringSchema,
    controlPlane: controlPlaneSchema,
    networkPolicy: networkPolicySchema,
    serve: serveSchema,
    revisionHistoryLimit: {
      type: 'integer',
      minimum: 1,
      maximum: 50,
      default: 5,
      description: 'Number of revisions kept for rollbacks, not counting the one that is served.',
    },
    autoDeploy: {
      type: 'boolean',
      default: true,
      description:
        'Rolls out every revision that compiles. If false, or while a Deployment pins a revision, only Deployments start rollouts.',
    },
  },
} as const satisfies Schema;

const status = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer', minimum: 0 },
    conditions,
    artifactHash: {
      type: 'string',
      description: 'The artifact that pods should serve; the condition Programmed tells whether they do.',
    },
    shortHash,
    revision: { type: 'integer', minimum: 1, description: 'Number of its revision.' },
    revisions: {
      type: 'array',
      description: 'Revisions that are kept, newest first.',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['revision', 'artifactHash', 'archive', 'createdAt'],
        properties: {
          revision: { type: 'integer', minimum: 1 },
          artifactHash: { type: 'string' },
          archive: {
            type: 'string',
            description:
              'SHA-256 of the tar archive, in hex; part of the names of the ConfigMaps or image that contain it.',
          },
          createdAt: { type: 'string', format: 'date-time' },
          parts: { type: 'integer', minimum: 1, description: 'Number of ConfigMaps.' },
          image: { type: 'string', description: 'REGISTRY/REPOSITORY@DIGEST, if it is stored in an OCI registry.' },
          registry: {
            type: 'object',
            description: 'How that registry was reached; used if spec.storage.oci no longer names its repository.',
            properties: { pushSecret: objectName, pullSecret: objectName, plainHttp: { type: 'boolean' } },
          },
          signedBy: { type: 'string', description: 'Public key of its signature, in hex.' },
          servedAt: {
            type: 'string',
            format: 'date-time',
            description:
              'When the pods last began to serve it; absent if they never did. Going back to it by a Deployment does not change it.',
          },
          failed: {
            type: 'object',
            description:
              'Why it failed to roll out; absent once all pods serve it. A rollback does not choose such a revision.',
            required: ['message'],
            properties: {
              message: { type: 'string', maxLength: 1024 },
              at: { type: 'string', format: 'date-time' },
            },
          },
        },
      },
    },
    latestRevision: { type: 'integer', minimum: 1, description: 'Newest revision that compiled.' },
    specs: {
      type: 'array',
      description: 'ApiSpecs in the last compilation.',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['name', 'generation', 'sha256'],
        properties: {
          name: { type: 'string' },
          generation: { type: 'integer', minimum: 0 },
          sha256: { type: 'string', description: 'SHA-256 of the document, in hex.' },
        },
      },
    },
    sources: {
      type: 'array',
      maxItems: 1000,
      description: 'Objects that the project reads, in the versions that this status is about.',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['kind', 'namespace', 'name', 'version'],
        properties: {
          kind: { type: 'string' },
          namespace: { type: 'string' },
          name: { type: 'string' },
          version: { type: 'string', description: 'metadata.generation, or resourceVersion of a ConfigMap or Secret.' },
        },
      },
    },
    diagnostics,
    diagnosticsCount: { type: 'integer', minimum: 0 },
    pods: {
      type: 'object',
      properties: {
        wanted: { type: 'integer', minimum: 0 },
        ready: { type: 'integer', minimum: 0 },
        programmed: { type: 'integer', minimum: 0, description: 'Number of ready pods that serve artifactHash.' },
      },
    },
    rollout: rolloutStatus,
    failed: failedStatus,
    measuredFaults,
    sidecars: sidecarStatus,
    controlPlane: controlPlaneStatus,
    address: { type: 'string', description: 'Host and port of the Service inside the cluster.' },
  },
} as const satisfies Schema;

/** A gateway: which specs and plugins it is compiled from, and the pods that serve it. */
export const gatewayProjectKind = {
  kind: 'GatewayProject',
  plural: 'gatewayprojects',
  singular: 'gatewayproject',
  shortNames: ['gwp'],
  description: 'A gateway: the specs and plugins that it is compiled from, and the pods that serve it.',
  spec,
  status,
  columns: [
    conditionColumn('Ready'),
    reasonColumn('Ready'),
    { name: 'Revision', type: 'integer', jsonPath: '.status.revision' },
    ...hashColumns,
    { name: 'Address', type: 'string', jsonPath: '.status.address', priority: 1 },
    ageColumn,
  ],
  validations: [
    {
      // Names of its objects are made from it, and a Service's has at most 63 characters.
      rule: "self.metadata.name.size() <= 50 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
      message: 'the name must be a DNS label that begins with a letter, of at most 50 characters',
      // Without it, the API server names the place "<nil>".
      fieldPath: '.metadata.name',
    },
  ],
} as const satisfies KindDefinition;

export type GatewayProjectSpec = FromSchema<typeof spec>;
export type GatewayProjectStatus = FromSchema<typeof status>;
export type Revision = NonNullable<GatewayProjectStatus['revisions']>[number];
