import type { FromSchema, KindDefinition, Schema } from './schema.ts';
import {
  ageColumn,
  allowedNamespaces,
  conditionColumn,
  conditions,
  dataKey,
  objectName,
  reasonColumn,
} from './shared.ts';
import { fetched, ociSource, secretKey, urlSource } from './sources.ts';

/** The name that specs use in `x-gw-middlewares` and `x-gw-dispatch`. */
export const pluginName = {
  type: 'string',
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)*$',
} as const satisfies Schema;

const package_ = {
  type: 'object',
  required: ['name'],
  properties: {
    name: objectName,
    wasm: { ...dataKey, description: 'Key of the WebAssembly module. Default: the only key that ends in ".wasm".' },
    manifest: { ...dataKey, description: "Key of the plugin's manifest.", default: 'plugin.toml' },
    configSchema: {
      ...dataKey,
      description: 'Key of the JSON Schema of its config, read if it exists.',
      default: 'config-schema.json',
    },
  },
} as const satisfies Schema;

const spec = {
  type: 'object',
  required: ['source'],
  properties: {
    plugin: { ...pluginName, description: 'Name under which specs use the plugin. Default: the name of the object.' },
    version: {
      type: 'string',
      maxLength: 64,
      description: "Version that the plugin's manifest must have. Default: any.",
    },
    sha256: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      description: 'Required SHA-256 of the module, in hex. Default: not checked.',
    },
    source: {
      type: 'object',
      description: 'Source of the plugin: exactly one of these.',
      properties: {
        builtin: {
          type: 'object',
          description: 'A plugin that is built into gw.',
          properties: {
            name: {
              ...pluginName,
              description:
                'Name of the built-in plugin. Default: spec.plugin. One of the two is required, because tools such as Kustomize can change the name of an object.',
            },
          },
        },
        configMap: {
          ...package_,
          description: 'A plugin package in the keys of a ConfigMap (the module in binaryData).',
        },
        secret: { ...package_, description: 'A plugin package in the keys of a Secret.' },
        oci: ociSource,
        url: urlSource,
      },
      'x-kubernetes-validations': [
        {
          rule: '(has(self.builtin) ? 1 : 0) + (has(self.configMap) ? 1 : 0) + (has(self.secret) ? 1 : 0) + (has(self.oci) ? 1 : 0) + (has(self.url) ? 1 : 0) == 1',
          message: 'exactly one of builtin, configMap, secret, oci and url must be set',
        },
      ],
    },
    verify: {
      type: 'object',
      description:
        'Rejects the plugin unless one of these keys has signed it. For a ConfigMap or Secret, the signature covers the module; for a URL, the file (as created by cosign sign-blob, or Ed25519 over the bytes, in base64 or hex); for an OCI source, the image (as created by cosign sign).',
      properties: {
        keys: {
          type: 'array',
          maxItems: 20,
          'x-kubernetes-list-type': 'atomic',
          items: { type: 'string', minLength: 1, maxLength: 4096 },
          description: "Public keys: PEM (ECDSA P-256, such as cosign's, or Ed25519) or 64 hex digits (Ed25519).",
        },
        keySecret: {
          ...secretKey,
          description: 'Key of a Secret that contains another public key, such as cosign.pub.',
        },
        signature: {
          type: 'string',
          minLength: 1,
          maxLength: 1024,
          description: 'The signature itself; not for images.',
        },
        signatureUrl: {
          type: 'string',
          minLength: 9,
          maxLength: 2048,
          pattern: '^https?://',
          description: 'URL of the signature, for a URL source. Default: the URL with ".sig" appended to its path.',
        },
        signatureKey: {
          ...dataKey,
          description:
            'Key of the signature in a ConfigMap or Secret. Default: the key of the module with ".sig" appended.',
        },
      },
      'x-kubernetes-validations': [
        { rule: 'has(self.keys) || has(self.keySecret)', message: 'keys or keySecret must be set' },
      ],
    },
    allowedNamespaces,
    defaultConfig: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      description: 'Default config, overridden by the config of the project and of the operation; merged by property.',
    },
  },
} as const satisfies Schema;

const status = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer', minimum: 0 },
    conditions,
    plugin: { type: 'string' },
    version: { type: 'string', description: 'Version in its manifest.' },
    type: { type: 'string', description: 'middleware or dispatcher.' },
    sha256: { type: 'string', description: 'SHA-256 of the module, in hex.' },
    fetched,
    verifiedBy: { type: 'string', description: 'The key that signed it: SHA-256 of its DER form, in hex.' },
    hostFunctions: {
      type: 'array',
      description: 'Capabilities that it declares.',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
    },
  },
} as const satisfies Schema;

/** A plugin: its source and default config. */
export const pluginRefKind = {
  kind: 'PluginRef',
  plural: 'pluginrefs',
  singular: 'pluginref',
  shortNames: ['gwplugin'],
  description:
    'A plugin, built in or as a package in a ConfigMap, a Secret, an OCI registry or at a URL, with its default config.',
  spec,
  status,
  columns: [
    { name: 'Plugin', type: 'string', jsonPath: '.status.plugin' },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    conditionColumn('Ready'),
    reasonColumn('Ready'),
    { name: 'Hash', type: 'string', jsonPath: '.status.sha256', priority: 1 },
    ageColumn,
  ],
  validations: [],
} as const satisfies KindDefinition;

export type PluginRefSpec = FromSchema<typeof spec>;
export type PluginRefStatus = FromSchema<typeof status>;
