/** The plugin registry in the REST API (docs/reference/control-plane.md#plugins). */
import Type, { type Static } from 'typebox';
import {
  AnyObject,
  Closed,
  Named,
  Nullable,
  OneOf,
  pageQuery,
  Sha256,
  Timestamp,
  Uuid,
} from '../../api/schema-types.ts';

const TYPES = ['middleware', 'dispatcher'] as const;
/** Bytes of a config schema. */
export const MAX_SCHEMA = 200_000;
/** Maximum bytes of a WASM module, as in a gateway (sdk/ABI.md). */
export const MAX_MODULE = 8 << 20;

/** Schema of a name as in plugin.toml (docs/reference/plugins.md#packages). */
const PluginName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)*$',
    description: `${description} In kebab-case; at most 63 characters.`,
  });

/** Schema of a semantic version. */
export const Version = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$',
    description: `${description} A semantic version.`,
  });

export const Plugin = Named(
  'Plugin',
  {
    id: Uuid('Of this version.'),
    name: PluginName('Under which specs use it.'),
    version: Version('Of the plugin.'),
    type: OneOf(TYPES, 'Its place in a chain.'),
    description: Type.String(),
    capabilities: Type.Array(Type.String(), { description: 'Host functions that it uses.' }),
    request_body: OneOf(['none', 'stream', 'buffer'], 'How it sees request bodies.'),
    response_body: OneOf(['none', 'stream', 'buffer'], 'How it sees response bodies.'),
    authenticates: Type.Boolean({ description: 'It identifies the caller.' }),
    config_schema: Nullable(AnyObject('JSON Schema of its config; null if it has no schema.')),
    sha256: Sha256('Of the WASM module.'),
    size: Type.Integer({ minimum: 0, description: 'Bytes of the WASM module.' }),
    builtin: Type.Boolean({ description: 'Comes with gw.' }),
    created_at: Timestamp('When it was registered.'),
    updated_at: Timestamp('When it was last registered anew.'),
  },
  'A version of a plugin.',
);
export type Plugin = Static<typeof Plugin>;

export const PluginQuery = Closed({
  ...pageQuery(['name', 'created_at'], 'name'),
  type: Type.Optional(OneOf(TYPES, 'Only of this type.')),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description: 'Part of the name, in any case.' })),
});
export type PluginQuery = Static<typeof PluginQuery>;

export const PluginForm = Closed({
  name: PluginName('Under which specs use it.'),
  version: Version('Of the plugin.'),
  type: OneOf(TYPES, 'Its place in a chain.'),
  description: Type.Optional(
    Type.String({ maxLength: 2000, pattern: '^[^\\u0000]*$', description: 'For people. Default: none.' }),
  ),
  capabilities: Type.Optional(
    Type.String({
      maxLength: 10_000,
      contentMediaType: 'application/json',
      description:
        'JSON: an array of host functions, or an object with the members of [capabilities] and [plugin] in plugin.toml: host_functions, request_body, response_body, cpu_ms, request_headers, authenticates, authorizes, inspects, preflight. Members that are absent grant nothing; with an array, the module decides about bodies.',
    }),
  ),
  config_schema: Type.Optional(
    Type.String({
      maxLength: MAX_SCHEMA,
      contentMediaType: 'application/json',
      description: 'JSON Schema of its config. Default: none.',
    }),
  ),
  file: Type.Unsafe<unknown>({ type: 'string', format: 'binary', description: 'The WASM module. At most 8 MiB.' }),
});

/** A registration, beside its module. */
export type PluginInput = Omit<Static<typeof PluginForm>, 'file'>;

export const PluginVersionParams = Closed({ name: PluginName('Of the plugin.'), version: Version('Of the plugin.') });
