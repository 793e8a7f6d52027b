/** Reads a plugin's folder as the compiler does: plugin.toml, the config's schema, the module. */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'smol-toml';
import type { ArtifactPlugin, BodyAccess, ConfigMarks, JsonObject } from '../../src/artifact/format.ts';

export interface PluginFolder {
  readonly plugin: ArtifactPlugin;
  readonly wasm: Uint8Array;
  /** Fills in the schema's defaults. Throws where the schema refuses the config. */
  complete(config: JsonObject): JsonObject;
}

const manifestSchema = {
  type: 'object',
  required: ['plugin'],
  properties: {
    plugin: {
      type: 'object',
      required: ['name', 'version', 'type'],
      properties: {
        name: { type: 'string' },
        version: { type: 'string' },
        type: { enum: ['dispatcher', 'middleware'] },
        wasm: { type: 'string' },
        authenticates: { type: 'boolean' },
        preflight: { type: 'boolean' },
      },
    },
    capabilities: {
      type: 'object',
      default: {},
      properties: {
        host_functions: { type: 'array', items: { type: 'string' }, default: [] },
        request_body: { enum: ['none', 'stream', 'buffer'], default: 'none' },
        response_body: { enum: ['none', 'stream', 'buffer'], default: 'none' },
        cpu_ms: { type: 'number' },
      },
    },
  },
} as const;

interface Manifest {
  readonly plugin: {
    readonly name: string;
    readonly version: string;
    readonly type: 'dispatcher' | 'middleware';
    readonly wasm?: string;
    readonly authenticates?: boolean;
    readonly preflight?: boolean;
  };
  readonly capabilities: {
    readonly host_functions: readonly string[];
    readonly request_body: BodyAccess;
    readonly response_body: BodyAccess;
    readonly cpu_ms?: number;
  };
}

/** Throws where the folder lacks plugin.toml or the module, or either is not valid. */
export async function readPluginFolder(folder: string): Promise<PluginFolder> {
  const ajv = new Ajv2020({ useDefaults: true, strict: false, allErrors: true });
  const isManifest = ajv.compile<Manifest>(manifestSchema);
  const manifest: unknown = parse(await readFile(join(folder, 'plugin.toml'), 'utf8'));
  if (!isManifest(manifest)) throw new Error(`${basename(folder)}/plugin.toml: ${ajv.errorsText(isManifest.errors)}`);
  const { plugin, capabilities } = manifest;
  const file = plugin.wasm ?? `${plugin.name}.wasm`;
  const wasm = await readFile(join(folder, file));
  const schema = await readSchema(join(folder, 'config-schema.json'));
  const validate = ajv.compile(schema);
  const marks = marksOf(schema, '');
  return {
    wasm,
    plugin: {
      name: plugin.name,
      version: plugin.version,
      plugin_type: plugin.type,
      wasm_path: `plugins/${plugin.name}.wasm`,
      sha256: '',
      capabilities: {
        ...capabilities,
        body_access: capabilities.request_body !== 'none' || capabilities.response_body !== 'none',
      },
      preflight: plugin.preflight ?? false,
      authenticates: plugin.authenticates ?? false,
      config_marks: marks,
    },
    complete(config) {
      const whole: JsonObject = structuredClone(config);
      if (!validate(whole)) throw new Error(`the config's schema refuses it: ${ajv.errorsText(validate.errors)}`);
      return whole;
    },
  };
}

async function readSchema(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch(() => '{}');
  const schema: unknown = JSON.parse(text);
  if (!isObject(schema)) throw new Error(`${basename(file)} is not a JSON object`);
  return schema;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Pointers to the properties that the schema marks. */
function marksOf(schema: unknown, pointer: string): Required<ConfigMarks> {
  if (!isObject(schema)) return { upstreams: [], credentials: [] };
  const children = [
    ...Object.entries(isObject(schema['properties']) ? schema['properties'] : {}).map(([name, child]) =>
      marksOf(child, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    ),
    marksOf(schema['items'], `${pointer}/*`),
    marksOf(schema['additionalProperties'], `${pointer}/*`),
  ];
  const property = schema['x-gw-credentials'];
  return {
    upstreams: [...(schema['x-gw-upstream'] === true ? [pointer] : []), ...children.flatMap((c) => c.upstreams)],
    credentials: [
      ...(typeof property === 'string' ? [{ pointer, property }] : []),
      ...children.flatMap((c) => c.credentials),
    ],
  };
}
