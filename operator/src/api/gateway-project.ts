import { controlPlaneSchema, controlPlaneStatus } from './control-plane.ts';
import { exposureSchema, monitoringSchema, tlsSchema } from './exposure.ts';
import { networkPolicySchema, podsSchema, secretsSchema, serveSchema, serviceSchema } from './gateway-pods.ts';
import { pluginName } from './plugin-ref.ts';
import { failedStatus, rolloutSchema, rolloutStatus } from './rollout.ts';
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
      description: 'The ApiSpecs of this namespace that are compiled together: those named and those selected.',
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
        'Every plugin that the specs use, by the name under which they use it. One without a PluginRef is built in.',
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
              'The PluginRef that it comes from. Default: one of that plugin among the selected, else the built-in one.',
          },
          namespace: {
            ...objectName,
            description: "The PluginRef's namespace, which must allow it (spec.allowedNamespaces). Default: this one.",
          },
          version: { type: 'string', maxLength: 64, description: 'The version that it must have. Default: any.' },
          config: {
            type: 'object',
            'x-kubernetes-preserve-unknown-fields': true,
            description: "Config for the whole project: over the plugin's default, under an operation's.",
          },
        },
      },
    },
    pluginSelector: { ...labelSelector, description: 'PluginRefs to take besides the plugins listed.' },
    upstreams: {
      type: 'object',
      description: 'Named upstreams: config may say upstream://NAME in place of a URL.',
      maxProperties: 500,
      additionalProperties: {
        type: 'object',
        required: ['url'],
        properties: { url: { type: 'string', minLength: 1, maxLength: 2048 } },
      },
    },
    allowPlaintext: {
      type: 'boolean',
      default: false,
      description:
        'Admits http:// upstreams. The build is then no production build: see the reference of compile errors for what that relaxes.',
    },
    egress: {
      type: 'object',
      properties: {
        allow: {
          type: 'array',
          description:
            'Addresses (CIDR) and host names, beyond public ones, that plugins may connect to. Services of the cluster need an entry.',
          maxItems: 200,
          'x-kubernetes-list-type': 'set',
          items: { type: 'string', minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:/*_-]+$' },
        },
      },
    },
    signing: {
      type: 'object',
      description: 'Signs artifacts, and makes pods refuse what none of the trusted keys has signed.',
      properties: {
        keySecret: {
          type: 'object',
          required: ['name'],
          description:
            'The PKCS#8 Ed25519 private key in PEM, in a Secret of this namespace. Its public key is trusted without being listed.',
          properties: {
            name: objectName,
            key: { type: 'string', minLength: 1, maxLength: 253, default: 'signing.pem' },
          },
        },
        trustedKeys: {
          type: 'array',
          description: 'Public Ed25519 keys in hex.',
          maxItems: 20,
          'x-kubernetes-list-type': 'set',
          items: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
        },
        trustedKeySecrets: {
          type: 'array',
          description:
            'Keys of Secrets that hold more public keys: hex or PEM, one after another. The last private key before a rotation may stand here too: its public half is trusted.',
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
      description: 'How many revisions are kept to go back to, the served one not counted.',
    },
    autoDeploy: {
      type: 'boolean',
      default: true,
      description: 'Rolls out what compiles. When false, or while a Deployment pins a revision, only Deployments do.',
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
      description: 'The artifact that pods shall serve; Programmed says whether they do.',
    },
    shortHash,
    revision: { type: 'integer', minimum: 1, description: 'Its revision.' },
    revisions: {
      type: 'array',
      description: 'The revisions that are kept, newest first.',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['revision', 'artifactHash', 'archive', 'createdAt'],
        properties: {
          revision: { type: 'integer', minimum: 1 },
          artifactHash: { type: 'string' },
          archive: {
            type: 'string',
            description: "sha256 of the archive's tar, in hex: names the ConfigMaps or the image that hold it.",
          },
          createdAt: { type: 'string', format: 'date-time' },
          parts: { type: 'integer', minimum: 1, description: 'Number of ConfigMaps.' },
          image: { type: 'string', description: 'REGISTRY/REPOSITORY@DIGEST, where it lies in an OCI registry.' },
          registry: {
            type: 'object',
            description: 'How that registry was reached: counts once spec.storage.oci says nothing of its repository.',
            properties: { pushSecret: objectName, pullSecret: objectName, plainHttp: { type: 'boolean' } },
          },
          signedBy: { type: 'string', description: 'Public key that it is signed with, in hex.' },
        },
      },
    },
    latestRevision: { type: 'integer', minimum: 1, description: 'The newest revision that compiled.' },
    specs: {
      type: 'array',
      description: 'The ApiSpecs that went into the last compilation.',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['name', 'generation', 'sha256'],
        properties: {
          name: { type: 'string' },
          generation: { type: 'integer', minimum: 0 },
          sha256: { type: 'string', description: 'Of the document, in hex.' },
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
        programmed: { type: 'integer', minimum: 0, description: 'Ready pods that report artifactHash.' },
      },
    },
    rollout: rolloutStatus,
    failed: failedStatus,
    sidecars: sidecarStatus,
    controlPlane: controlPlaneStatus,
    address: { type: 'string', description: 'Host and port of the Service within the cluster.' },
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
      // Else the API server calls the place "<nil>".
      fieldPath: '.metadata.name',
    },
  ],
} as const satisfies KindDefinition;

export type GatewayProjectSpec = FromSchema<typeof spec>;
export type GatewayProjectStatus = FromSchema<typeof status>;
export type Revision = NonNullable<GatewayProjectStatus['revisions']>[number];
