/**
 * Reads a plugin package: module, plugin.toml, config-schema.json (docs/reference/plugins.md#packages,
 * docs/decisions.md#headers-plugins-read, docs/decisions.md#plugin-declarations).
 */

import { parse } from 'smol-toml';
import type { BodyAccess, JsonObject } from '../artifact/format.ts';
import { isObject, type Obj } from '../spec/json.ts';
import { messageOf } from '../text/message-of.ts';
import type { PluginManifest, ProjectPlugin } from './project-plugin.ts';

/** The package is not usable; the message says which file, and why. */
export class PluginPackageError extends Error {}

export interface PluginPackage {
  readonly wasm: Uint8Array;
  /** Text of plugin.toml. */
  readonly manifest?: Uint8Array;
  /** Text of config-schema.json. */
  readonly configSchema?: Uint8Array;
  /** Name without a plugin.toml; default `plugin`. */
  readonly name?: string;
}

/** Throws PluginPackageError. */
export function readPluginPackage({ wasm, manifest, configSchema, name }: PluginPackage): ProjectPlugin {
  const read = manifest ? readPluginManifest(textOf(manifest, 'plugin.toml')) : undefined;
  const schema = configSchema ? readSchema(textOf(configSchema, 'config-schema.json')) : undefined;
  return {
    name: read?.name ?? name ?? 'plugin',
    wasm,
    ...(read ? { manifest: read } : {}),
    ...(schema ? { configSchema: schema } : {}),
  };
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new PluginPackageError(`${file} is not UTF-8 text`);
  }
}

function readSchema(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new PluginPackageError(`config-schema.json is not JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) throw new PluginPackageError('config-schema.json must hold an object');
  return value as JsonObject;
}

/** `wasm` of `[plugin]`; default `<name>.wasm`. */
export function wasmFileOf(toml: string): string {
  const plugin = table(parseToml(toml), 'plugin');
  return text(plugin, 'wasm', /^[\w][\w.-]*$/, 'a file name') ?? `${readPluginManifest(toml).name}.wasm`;
}

/** Throws PluginPackageError. */
export function readPluginManifest(toml: string): PluginManifest {
  return manifestFrom(parseToml(toml));
}

/** `root`: content of plugin.toml, from any source. Throws PluginPackageError. */
export function manifestFrom(root: Obj): PluginManifest {
  const plugin = table(root, 'plugin');
  const capabilities = root['capabilities'] === undefined ? {} : table(root, 'capabilities');
  const description = text(plugin, 'description', /^/, 'a string');
  const authenticates = flag(plugin, 'authenticates');
  const authorizes = flag(plugin, 'authorizes');
  const preflight = flag(plugin, 'preflight');
  const inspects = flag(plugin, 'inspects');
  const headers = list(plugin, 'request_headers', /^[!#$%&'+.^_`|~0-9A-Za-z-]+\*?$/, 'header names');
  const cpu = capabilities['cpu_ms'];
  if (cpu !== undefined && !(Number.isInteger(cpu) && Number(cpu) > 0 && Number(cpu) <= 60_000)) {
    throw new PluginPackageError('plugin.toml: "cpu_ms" must be a whole number of milliseconds from 1 to 60000');
  }
  const type = needed(text(plugin, 'type', /^(dispatcher|middleware)$/, '"dispatcher" or "middleware"'), 'type');
  return {
    name: needed(text(plugin, 'name', /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'in kebab-case'), 'name'),
    version: needed(text(plugin, 'version', /^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$/, 'a semantic version'), 'version'),
    type: type === 'dispatcher' ? 'dispatcher' : 'middleware',
    ...(description === undefined ? {} : { description }),
    ...(authenticates ? { authenticates } : {}),
    ...(authorizes ? { authorizes } : {}),
    ...(preflight ? { preflight } : {}),
    ...(inspects ? { inspects } : {}),
    ...(headers ? { request_headers: headers } : {}),
    host_functions: list(capabilities, 'host_functions', /^host_[a-z0-9_]+$/, 'names of host functions') ?? [],
    request_body: body(capabilities, 'request_body'),
    response_body: body(capabilities, 'response_body'),
    ...(cpu === undefined ? {} : { cpu_ms: Number(cpu) }),
  };
}

function parseToml(toml: string): Obj {
  try {
    return parse(toml);
  } catch (error) {
    throw new PluginPackageError(`plugin.toml does not parse: ${messageOf(error).split('\n')[0]}`);
  }
}

function table(root: Obj, name: string): Obj {
  const value = root[name];
  if (!isObject(value)) throw new PluginPackageError(`plugin.toml has no table [${name}]`);
  return value;
}

function needed(value: string | undefined, name: string): string {
  if (value === undefined) throw new PluginPackageError(`plugin.toml: [plugin] needs "${name}"`);
  return value;
}

function text(from: Obj, name: string, form: RegExp, what: string): string | undefined {
  const value = from[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && form.test(value)) return value;
  throw new PluginPackageError(`plugin.toml: "${name}" must be ${what}`);
}

function flag(from: Obj, name: string): boolean {
  const value = from[name];
  if (value === undefined || typeof value === 'boolean') return value === true;
  throw new PluginPackageError(`plugin.toml: "${name}" must be true or false`);
}

function list(from: Obj, name: string, form: RegExp, what: string): readonly string[] | undefined {
  const value = from[name];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string' && form.test(each))) return value;
  throw new PluginPackageError(`plugin.toml: "${name}" must be a list of ${what}`);
}

function body(from: Obj, name: string): BodyAccess {
  const value = from[name] ?? 'none';
  if (value === 'none' || value === 'stream' || value === 'buffer') return value;
  throw new PluginPackageError(`plugin.toml: "${name}" must be "none", "stream" or "buffer"`);
}
