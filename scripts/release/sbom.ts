/**
 * `gw-VERSION.cdx.json`: every package of npm that a release contains or installs, as CycloneDX. npm knows them from
 * package-lock.json; of those that it takes for tools of developers, the ones that are bundled into pages stay.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROGRAMS } from '../build-programs.ts';
import { pluginPackages } from '../plugin-packages.ts';
import type { PackageJson } from '../published-exports.ts';
import { sbomFile, writeJson } from './files.ts';
import type { ReleaseOptions } from './options.ts';
import { ask, ROOT } from './programs.ts';

/** What is bundled: the programs, and the pages of console and inspector. */
const BUNDLED = [...Object.values(PROGRAMS), 'control/ui/main.tsx', 'gateway/inspector/main.tsx'];

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly purl: string;
  readonly properties?: readonly { readonly name: string }[];
  readonly [member: string]: unknown;
}

interface Bom {
  readonly metadata: { readonly component: Component; readonly [member: string]: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  readonly [member: string]: unknown;
}

export async function writeSbom({ out, version, epoch }: ReleaseOptions): Promise<void> {
  const printed = await ask('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']);
  const bom: Bom = JSON.parse(printed);
  const bundled = await bundledPackages();
  const components = bom.components.filter((each) => !isDevelopment(each) || bundled.has(each['bom-ref']));
  const plugins = [...pluginPackages().values()].map(componentOf);
  const refs = new Set(components.map((each) => each['bom-ref']));
  const missing = [...bundled].filter((ref) => !refs.has(ref));
  if (missing.length > 0) throw new Error(`package-lock.json does not have what is bundled: ${missing.join(', ')}`);
  const { component } = bom.metadata;
  refs.add(component['bom-ref']);
  // npm names packages of the workspace by their folders.
  const named = components.map((each) => ({ ...each, name: nameOf(each['bom-ref']) }));
  const content = {
    metadata: {
      ...bom.metadata,
      timestamp: new Date(epoch * 1000).toISOString(),
      component: { ...component, name: 'gw', type: 'application' },
    },
    components: [...named, ...plugins],
    dependencies: [
      ...bom.dependencies
        .filter(({ ref }) => refs.has(ref))
        .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
      ...plugins.map((each) => ({ ref: each['bom-ref'], dependsOn: [] })),
    ],
  };
  for (const name of await readdir(out)) if (/^gw-.*\.cdx\.json$/.test(name)) await rm(join(out, name));
  await writeJson(join(out, sbomFile(version)), { ...bom, serialNumber: serialOf(content), ...content });
}

/** The component of a package that is no workspace, so that npm does not know it. */
function componentOf({ name, version, description, license }: PackageJson): Component {
  const ref = `${name}@${version}`;
  const purl = `pkg:npm/${ref.replace('@', '%40')}`;
  return {
    'bom-ref': ref,
    type: 'library',
    name,
    version,
    description,
    purl,
    licenses: [{ license: { id: license } }],
  };
}

function isDevelopment({ properties = [] }: Component): boolean {
  return properties.some(({ name }) => name === 'cdx:npm:package:development');
}

/** `NAME@VERSION` of each package that is bundled. */
async function bundledPackages(): Promise<ReadonlySet<string>> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: BUNDLED,
    outdir: 'dist',
    bundle: true,
    write: false,
    splitting: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'error',
  });
  const folders = new Set<string>();
  for (const file of Object.keys(metafile.inputs)) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  const refs = [...folders].map(async (folder) => {
    const json: { name: string; version: string } = JSON.parse(
      await readFile(join(ROOT, folder, 'package.json'), 'utf8'),
    );
    return `${json.name}@${json.version}`;
  });
  return new Set(await Promise.all(refs));
}

function nameOf(ref: string): string {
  return ref.slice(0, ref.lastIndexOf('@'));
}

/** A UUID of the content, where npm takes a random one. */
function serialOf(content: unknown): string {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
