/**
 * `kubectl gw` for krew: an archive for each platform, with the program, a Node.js that runs it, and a launcher; and the
 * manifest that krew installs from. Why not a single executable: docs/decisions.md#kubectl-archives.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { bundle, PROGRAMS } from '../build-programs.ts';
import { type ArchiveEntry, readArchive, writeArchive } from './archive.ts';
import { sha256Of } from './files.ts';
import { type KubectlPlatform, NODE_PACKAGES, type ReleaseOptions } from './options.ts';
import { ask, ROOT } from './programs.ts';

const MANIFEST = 'gw.yaml';
/** krew links to this file from a folder on the path: the links lead back to the archive's folder. */
const LAUNCHER = `#!/bin/sh
file=$0
while [ -h "$file" ]; do
  link=$(readlink "$file")
  case $link in /*) file=$link ;; *) file=$(dirname "$file")/$link ;; esac
done
folder=$(cd "$(dirname "$file")" && pwd -P)
exec "$folder/node" "$folder/lib/kubectl-gw.js" "$@"
`;

export async function packKubectlPlugin(options: ReleaseOptions): Promise<void> {
  const { out, version, epoch, kubectlPlatforms } = options;
  for (const name of await readdir(out)) if (/^kubectl-gw-.*\.tar\.gz$/.test(name)) await rm(join(out, name));
  const folder = await mkdtemp(join(tmpdir(), 'gw-release-'));
  try {
    await bundle(join(folder, 'lib'), { 'kubectl-gw': PROGRAMS['gw-operator'] });
    const program = await programEntries(join(folder, 'lib'));
    const rows: KrewPlatform[] = [];
    for (const platform of kubectlPlatforms) {
      const name = `kubectl-gw-${version}-${platform.replace('/', '-')}.tar.gz`;
      process.stderr.write(`gw release: ${name}\n`);
      await writeArchive(join(out, name), [...program, ...(await nodeEntries(platform, folder))], epoch);
      rows.push(krewPlatform(platform, `${options.downloadUrl}/${name}`, await sha256Of(join(out, name))));
    }
    await writeFile(join(out, MANIFEST), krewManifest(options, rows));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function programEntries(lib: string): Promise<readonly ArchiveEntry[]> {
  const file = async (name: string, path: string): Promise<ArchiveEntry> => ({
    name,
    mode: 0o644,
    content: await readFile(path),
  });
  const modules = (await readdir(lib)).toSorted();
  return [
    { name: 'kubectl-gw', mode: 0o755, content: Buffer.from(LAUNCHER) },
    await file('LICENSE', join(ROOT, 'LICENSE')),
    { name: 'lib/package.json', mode: 0o644, content: Buffer.from('{"type":"module"}\n') },
    ...(await Promise.all(modules.map((name) => file(`lib/${name}`, join(lib, name))))),
  ];
}

/** Node.js and its license, from the package of npm that package-lock.json names. */
async function nodeEntries(platform: KubectlPlatform, folder: string): Promise<readonly ArchiveEntry[]> {
  const name = NODE_PACKAGES[platform];
  const entries = await nodeFiles(name, folder);
  return [
    { name: 'node', mode: 0o755, content: entries.node },
    { name: 'LICENSE.node', mode: 0o644, content: entries.license },
  ];
}

interface NodeFiles {
  readonly node: ArchiveEntry['content'];
  readonly license: ArchiveEntry['content'];
}

async function nodeFiles(name: string, folder: string): Promise<NodeFiles> {
  // npm installs the one of this platform, and has compared it with the lockfile.
  const installed = join(ROOT, 'node_modules', name);
  if (existsSync(installed)) {
    return { node: { file: join(installed, 'bin', 'node') }, license: { file: join(installed, 'LICENSE') } };
  }
  const { version, integrity } = await locked(name);
  const printed = await ask('npm', ['pack', '--json', '--pack-destination', folder, `${name}@${version}`]);
  const [packed]: readonly { readonly filename: string }[] = JSON.parse(printed);
  const archive = join(folder, packed?.filename ?? '');
  const actual = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (actual !== integrity) throw new Error(`${name}@${version}: npm has ${actual}, package-lock.json ${integrity}`);
  const entries = await readArchive(archive);
  const entry = (path: string) => {
    const found = entries.find((each) => each.name === `package/${path}`);
    if (!found) throw new Error(`${name}@${version} has no ${path}`);
    return found.content;
  };
  return { node: entry('bin/node'), license: entry('LICENSE') };
}

async function locked(name: string): Promise<{ readonly version: string; readonly integrity: string }> {
  const lock: { packages: Record<string, { version: string; integrity: string }> } = JSON.parse(
    await readFile(join(ROOT, 'package-lock.json'), 'utf8'),
  );
  const entry = lock.packages[`node_modules/${name}`];
  if (!entry) throw new Error(`package-lock.json has no ${name}: it is an optional dependency of package.json`);
  return entry;
}

interface KrewPlatform {
  readonly selector: { readonly matchLabels: { readonly os: string; readonly arch: string } };
  readonly uri: string;
  readonly sha256: string;
  readonly bin: string;
}

function krewPlatform(platform: KubectlPlatform, uri: string, sha256: string): KrewPlatform {
  const [os = '', arch = ''] = platform.split('/');
  return { selector: { matchLabels: { os, arch } }, uri, sha256, bin: 'kubectl-gw' };
}

/** https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest */
function krewManifest({ version, sourceUrl }: ReleaseOptions, platforms: readonly KrewPlatform[]): string {
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'gw' },
    spec: {
      version: `v${version}`,
      ...(sourceUrl === undefined ? {} : { homepage: sourceUrl }),
      shortDescription: 'See and steer gw, a spec-driven API gateway',
      description:
        'Shows what the gateways of a cluster serve and why one is not ready, compares revisions, rolls back, ' +
        'steers canaries, follows logs, and traces a request through every plugin.\n',
      platforms,
    },
  });
}
