/** Specs, plugins and upstreams of a project, as a control plane is to have them. Pure. */
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type ProjectPluginInput, specName } from '@gw/control/client';
import type { Project } from '@gw/gateway/compiler';
import type { McpSettings } from '@gw/gateway/mcp-settings';
import { pack } from 'tar-stream';

export interface SpecUpload {
  /** Name of the spec at the control plane. */
  readonly name: string;
  readonly filename: string;
  /** Which file of an archive is the document. */
  readonly entry?: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string;
}

export interface Sources {
  readonly specs: readonly SpecUpload[];
  readonly plugins: readonly Required<ProjectPluginInput>[];
  readonly upstreams: Readonly<Record<string, string>>;
  /** Null: no settings; older control planes do not have this field. */
  readonly mcp: McpSettings | null;
}

/** Returns the sources that a project compiles from. */
export async function sourcesOf({ specs, files, plugins, upstreams, mcp }: Project): Promise<Sources> {
  return {
    specs: await Promise.all(specs.map((spec) => uploadOf(spec, files))),
    plugins: plugins.flatMap(({ name, manifest, defaultConfig, config }) =>
      manifest === undefined
        ? []
        : [
            {
              plugin_name: name,
              plugin_version: manifest.version,
              enabled: true,
              config: { ...defaultConfig, ...config },
            },
          ],
    ),
    upstreams: Object.fromEntries(
      Object.entries(upstreams ?? {}).flatMap(([name, { url }]) => (url === undefined ? [] : [[name, url]])),
    ),
    mcp: mcp ?? null,
  };
}

/** Packs a spec; every spec has its own folder in the project. */
async function uploadOf(spec: string, files: Project['files']): Promise<SpecUpload> {
  const [folder = ''] = spec.split('/');
  const entry = spec.slice(folder.length + 1);
  const base = entry.split('/').at(-1) ?? entry;
  const own = files.filter(({ name }) => name.startsWith(`${folder}/`));
  const [only] = own;
  const upload =
    own.length === 1 && only
      ? { filename: base, bytes: only.bytes }
      : { filename: `${folder}.tar`, entry, bytes: await archive(own, folder) };
  return {
    ...upload,
    name: specName(base, undefined),
    sha256: createHash('sha256').update(upload.bytes).digest('hex'),
  };
}

/** Packs files; equal files give equal bytes, so that unchanged sources make no revision. */
async function archive(files: Project['files'], folder: string): Promise<Uint8Array> {
  const packing = pack();
  for (const { name, bytes } of files) {
    packing.entry({ name: name.slice(folder.length + 1), mtime: new Date(0) }, Buffer.from(bytes));
  }
  packing.finalize();
  return buffer(packing);
}
