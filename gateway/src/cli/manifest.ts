/**
 * Reads `gw.yaml` (docs/reference/gateway.md#manifest, docs/decisions.md#one-project,
 * docs/decisions.md#plugins-declared).
 */

import { readFile } from 'node:fs/promises';
import type { JsonObject } from '../artifact/format.ts';
import type { McpSettings } from '../compiler/mcp-upstream-schema.ts';
import { messageOf } from '../message-of.ts';
import type { RemotePlugin } from '../plugins/remote.ts';
import { isObject, kindOf, type Obj } from '../spec/json.ts';
import { parseText } from '../spec/parse.ts';

/** The manifest, or a file that it names, cannot be used: exit 2 for `gw compile`. */
export class ManifestError extends Error {}

export interface ManifestPlugin {
  /** Path of a `.wasm` file, relative to the manifest; absent for a built-in or a remote plugin. */
  readonly path?: string;
  readonly remote?: RemotePlugin;
  readonly version?: string;
  readonly config?: JsonObject;
}

export interface ProjectManifest {
  /** Folder of specs, relative to the manifest. */
  readonly specs?: string;
  readonly plugins: ReadonlyMap<string, ManifestPlugin>;
  readonly upstreams: { readonly [name: string]: { readonly url: string } };
  /** Checked by the compiler. */
  readonly mcp?: McpSettings;
}

/** Rejects with ManifestError: unreadable, not YAML, unknown or malformed fields. */
export async function readManifest(path: string): Promise<ProjectManifest> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new ManifestError(`cannot read manifest ${path}: ${reasonOf(error)}`, { cause: error });
  }
  const parsed = parseText(bytes);
  if (!parsed.ok) {
    const at = parsed.position ? `:${parsed.position.line}:${parsed.position.column}` : '';
    throw new ManifestError(`${path}${at}: ${parsed.message}`);
  }
  const fail = (message: string): never => {
    throw new ManifestError(`${path}: ${message}`);
  };
  const root = objectOf(parsed.value, 'the manifest', fail);
  onlyFields(root, ['specs', 'plugins', 'upstreams', 'mcp'], 'the manifest', fail);
  const { specs } = root;
  if (specs !== undefined && typeof specs !== 'string')
    fail(`"specs" is ${kindOf(specs)}: give the folder of the specs`);
  return {
    ...(typeof specs === 'string' ? { specs } : {}),
    plugins: pluginsOf(root['plugins'], fail),
    upstreams: upstreamsOf(root['upstreams'], fail),
    ...(root['mcp'] === undefined ? {} : { mcp: objectOf(root['mcp'], '"mcp"', fail) as McpSettings }),
  };
}

type Fail = (message: string) => never;

function pluginsOf(value: unknown, fail: Fail): ReadonlyMap<string, ManifestPlugin> {
  const plugins = objectOf(value ?? {}, '"plugins"', fail, ' of plugins by name, such as { mock: {} }');
  return new Map(
    Object.entries(plugins).map(([name, entry]) => {
      if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) fail(`plugin name "${name}" is not in kebab-case`);
      return [name, pluginOf(name, objectOf(entry ?? {}, `plugin "${name}"`, fail), fail)];
    }),
  );
}

function pluginOf(name: string, entry: Obj, fail: Fail): ManifestPlugin {
  onlyFields(entry, ['path', 'url', 'sha256', 'version', 'config'], `plugin "${name}"`, fail);
  const remote = remoteOf(name, entry, fail);
  const { path, version, config } = entry;
  if (path !== undefined && typeof path !== 'string')
    fail(`"path" of plugin "${name}" is ${kindOf(path)}: give a .wasm file`);
  if (version !== undefined && typeof version !== 'string')
    fail(`"version" of plugin "${name}" must be a string, such as "0.8.0"`);
  return {
    ...(typeof path === 'string' ? { path } : {}),
    ...(remote ? { remote } : {}),
    ...(typeof version === 'string' ? { version } : {}),
    ...(config === undefined || config === null
      ? {}
      : { config: objectOf(config, `config of plugin "${name}"`, fail) as JsonObject }),
  };
}

/**
 * `url` and `sha256` go together: the fetched module must be the reviewed one
 * (docs/decisions.md#references-stay-inside).
 */
function remoteOf(name: string, { url, sha256, path }: Obj, fail: Fail): RemotePlugin | undefined {
  const what = `plugin "${name}"`;
  if (url === undefined) {
    return sha256 === undefined ? undefined : fail(`${what} has "sha256" without "url": it goes with remote plugins`);
  }
  if (path !== undefined) return fail(`${what} has both "path" and "url": keep one`);
  if (typeof url !== 'string' || !URL.canParse(url)) return fail(`"url" of ${what} must be a full URL`);
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return fail(`"url" of ${what} must begin with https://`);
  if (username !== '' || password !== '')
    return fail(`"url" of ${what} holds credentials: gw.yaml is no place for them`);
  const hex = typeof sha256 === 'string' ? /^(?:sha256:)?([0-9a-f]{64})$/i.exec(sha256)?.[1] : undefined;
  if (hex === undefined)
    return fail(`${what} has a "url" and needs its "sha256": 64 hex digits, as sha256sum prints them`);
  return { url, sha256: hex.toLowerCase() };
}

function upstreamsOf(value: unknown, fail: Fail): ProjectManifest['upstreams'] {
  const upstreams = objectOf(
    value ?? {},
    '"upstreams"',
    fail,
    ' of upstreams by name, such as { books: { url: https://books.example.org } }',
  );
  return Object.fromEntries(
    Object.entries(upstreams).map(([name, entry]) => {
      const upstream = objectOf(entry, `upstream "${name}"`, fail);
      onlyFields(upstream, ['url'], `upstream "${name}"`, fail);
      const { url } = upstream;
      if (typeof url !== 'string' || !URL.canParse(url)) return fail(`upstream "${name}" needs "url", a full URL`);
      return [name, { url }];
    }),
  );
}

/** `of`: kind of its members. */
function objectOf(value: unknown, what: string, fail: Fail, of = ''): Obj {
  return isObject(value) ? value : fail(`${what} is ${kindOf(value)}: it must be an object${of}`);
}

function onlyFields(object: Obj, known: readonly string[], what: string, fail: Fail): void {
  const other = Object.keys(object).find((key) => !known.includes(key));
  if (other !== undefined) fail(`${what} has an unknown field "${other}": known are ${known.join(', ')}`);
}

/** Returns why a file could not be read, in words. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'ENOTDIR') return 'it is not a folder';
  return messageOf(error);
}
