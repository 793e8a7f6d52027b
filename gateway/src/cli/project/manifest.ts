/**
 * Reads `gw.yaml` (docs/reference/gateway.md#manifest, docs/decisions.md#one-project,
 * docs/decisions.md#plugins-declared).
 */

import { readFile } from 'node:fs/promises';
import type { JsonObject } from '../../artifact/format.ts';
import type { McpSettings } from '../../compiler/project/mcp-upstream-schema.ts';
import type { ProjectUpstream } from '../../compiler/project/project.ts';
import { readFailure } from '../../files/read-failure.ts';
import type { RemotePlugin } from '../../plugins/remote.ts';
import type { Diagnostic } from '../../spec/diagnostic.ts';
import { diagnosticLine } from '../../spec/diagnostic-line.ts';
import { kindOf, type Obj } from '../../spec/json.ts';
import { parseText } from '../../spec/parse.ts';
import { child } from '../../spec/pointer.ts';
import { positions } from '../../spec/position.ts';
import { type Fail, objectOf, onlyFields, type Part } from './manifest-fields.ts';
import { upstreamsOf } from './manifest-upstreams.ts';

/** The manifest, or a file that it names, cannot be used: exit 2 for `gw compile`. */
export class ManifestError extends Error {
  /** Place in the manifest, if a line of it is at fault. */
  readonly diagnostic: Diagnostic | undefined;

  constructor(message: string, { diagnostic, ...options }: ErrorOptions & { readonly diagnostic?: Diagnostic } = {}) {
    super(message, options);
    this.diagnostic = diagnostic;
  }
}

/** E1046 at a place in the manifest. */
export function manifestError(
  { path, text }: { readonly path: string; readonly text: string },
  { message, pointer, hint, cause }: ManifestFault,
): ManifestError {
  const { line, column } = positions(text, [pointer]).get(pointer) ?? { line: 1, column: 1 };
  const diagnostic = { code: 'E1046', severity: 'error', message, hint, file: path, pointer, line, column } as const;
  return new ManifestError(diagnosticLine(diagnostic), { cause, diagnostic });
}

interface ManifestFault {
  readonly message: string;
  /** JSON pointer into the manifest. */
  readonly pointer: string;
  /** The text to write instead. */
  readonly hint: string;
  readonly cause?: unknown;
}

export interface ManifestPlugin {
  /** Path of a `.wasm` file, relative to the manifest; absent for a built-in or a remote plugin. */
  readonly path?: string;
  readonly remote?: RemotePlugin;
  readonly version?: string;
  readonly config?: JsonObject;
}

export interface ProjectManifest {
  readonly text: string;
  /** Folder of specs, relative to the manifest. */
  readonly specs?: string;
  readonly plugins: ReadonlyMap<string, ManifestPlugin>;
  readonly upstreams: { readonly [name: string]: ProjectUpstream };
  /** Checked by the compiler. */
  readonly mcp?: McpSettings;
}

/** Rejects with ManifestError: unreadable, not YAML, unknown or malformed fields. */
export async function readManifest(path: string): Promise<ProjectManifest> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new ManifestError(`cannot read manifest ${path}: ${readFailure(error)}`, { cause: error });
  }
  const parsed = parseText(bytes);
  if (!parsed.ok) {
    const { message, hint, position } = parsed;
    const diagnostic = { code: 'E1002', severity: 'error', message, hint, file: path, ...position } as const;
    throw new ManifestError(diagnosticLine(diagnostic), { diagnostic });
  }
  const { text } = parsed;
  const fail: Fail = (message, pointer, hint) => {
    throw manifestError({ path, text }, { message, pointer, hint });
  };
  const root = objectOf(parsed.value, { what: 'the manifest', pointer: '', such: 'specs: specs' }, fail);
  onlyFields(root, ['specs', 'plugins', 'upstreams', 'mcp'], { what: 'the manifest', pointer: '' }, fail);
  const { specs } = root;
  if (specs !== undefined && typeof specs !== 'string')
    fail(
      `"specs" is ${kindOf(specs)}: it must be a folder`,
      '/specs',
      'Write specs: specs, with the folder of the documents.',
    );
  return {
    text,
    ...(typeof specs === 'string' ? { specs } : {}),
    plugins: pluginsOf(root['plugins'], fail),
    upstreams: upstreamsOf(root['upstreams'], fail),
    ...(root['mcp'] === undefined
      ? {}
      : { mcp: objectOf(root['mcp'], { what: '"mcp"', pointer: '/mcp', such: 'upstreams: {}' }, fail) as McpSettings }),
  };
}

const PLUGIN_FIELDS = ['path', 'url', 'sha256', 'version', 'config'];

function pluginsOf(value: unknown, fail: Fail): ReadonlyMap<string, ManifestPlugin> {
  const part = { what: '"plugins"', pointer: '/plugins', such: 'mock: {}' };
  const plugins = objectOf(value ?? {}, part, fail);
  return new Map(
    Object.entries(plugins).map(([name, entry]) => {
      const pointer = child('/plugins', name);
      if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
        fail(
          `plugin name "${name}" is not in kebab-case`,
          pointer,
          'Write it with a-z, 0-9 and "-", such as rate-limit.',
        );
      }
      const what = `plugin "${name}"`;
      return [
        name,
        pluginOf({ what, pointer }, objectOf(entry ?? {}, { what, pointer, such: 'config: {}' }, fail), fail),
      ];
    }),
  );
}

function pluginOf(part: Part, entry: Obj, fail: Fail): ManifestPlugin {
  onlyFields(entry, PLUGIN_FIELDS, part, fail);
  const { what, pointer } = part;
  const remote = remoteOf(part, entry, fail);
  const { path, version, config } = entry;
  if (path !== undefined && typeof path !== 'string')
    fail(`"path" of ${what} is ${kindOf(path)}`, child(pointer, 'path'), 'Write the path of a .wasm file.');
  if (version !== undefined && typeof version !== 'string')
    fail(`"version" of ${what} is ${kindOf(version)}`, child(pointer, 'version'), 'Write a string, such as "0.8.0".');
  const at = { what: `config of ${what}`, pointer: child(pointer, 'config'), such: 'url: "https://api.example.com"' };
  return {
    ...(typeof path === 'string' ? { path } : {}),
    ...(remote ? { remote } : {}),
    ...(typeof version === 'string' ? { version } : {}),
    ...(config === undefined || config === null ? {} : { config: objectOf(config, at, fail) as JsonObject }),
  };
}

/** `url` and `sha256` go together: what is fetched is what was reviewed (docs/decisions.md#references-stay-inside). */
function remoteOf({ what, pointer }: Part, { url, sha256, path }: Obj, fail: Fail): RemotePlugin | undefined {
  const at = child(pointer, 'url');
  if (url === undefined) {
    if (sha256 === undefined) return undefined;
    return fail(`${what} has "sha256" without "url"`, child(pointer, 'sha256'), 'Add "url", or remove "sha256".');
  }
  if (path !== undefined) return fail(`${what} has both "path" and "url"`, at, 'Remove one of the two.');
  const example = 'Write a full URL, such as https://plugins.example.com/hello-1.0.0.tar.gz.';
  if (typeof url !== 'string' || !URL.canParse(url)) return fail(`"url" of ${what} must be a full URL`, at, example);
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:')
    return fail(`"url" of ${what} must begin with https://`, at, example);
  if (username !== '' || password !== '')
    return fail(`"url" of ${what} holds credentials`, at, 'Remove user name and password from the URL.');
  const hex = typeof sha256 === 'string' ? /^(?:sha256:)?([0-9a-f]{64})$/i.exec(sha256)?.[1] : undefined;
  if (hex === undefined) {
    const hint = 'Add sha256: <64 hex digits>, as sha256sum prints them.';
    return fail(`${what} has a "url" and needs its "sha256": 64 hex digits, as sha256sum prints them`, at, hint);
  }
  return { url, sha256: hex.toLowerCase() };
}
