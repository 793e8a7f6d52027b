/** Publishes packages and charts. What a registry has already, with the same bytes, is left there, so that this can be run again. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readArchive } from './archive.ts';
import { addPushed } from './files.ts';
import { digestIn } from './image.ts';
import type { ReleaseOptions } from './options.ts';
import { ask, run } from './programs.ts';

export async function publish(options: ReleaseOptions): Promise<void> {
  if (options.pushRegistry !== undefined) await pushCharts(options, options.pushRegistry);
  if (options.pushNpm !== undefined) await publishPackages(options, options.pushNpm);
}

async function pushCharts({ out, plainHttp }: ReleaseOptions, registry: string): Promise<void> {
  for (const file of await filesOf(join(out, 'charts'), 'charts')) {
    const [, name = '', tag = ''] = /^(.+?)-(\d.*)\.tgz$/.exec(file) ?? [];
    const target = `${registry}/charts`;
    const args = ['push', join(out, 'charts', file), `oci://${target}`, ...(plainHttp ? ['--plain-http'] : [])];
    const digest = digestIn(await run('helm', args));
    await addPushed(out, { kind: 'chart', repository: `${target}/${name}`, tag, digest });
  }
}

/** npm's processes that publish at once: each mostly waits for the registry. */
const AT_ONCE = 4;

async function publishPackages(options: ReleaseOptions, registry: string): Promise<void> {
  const files = (await filesOf(join(options.out, 'npm'), 'packages')).values();
  const publishNext = async () => {
    for (const file of files) await publishPackage(options, registry, join(options.out, 'npm', file));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, publishNext));
}

async function publishPackage({ npmTag, npmProvenance }: ReleaseOptions, registry: string, path: string) {
  const { name, version } = await packageJson(path);
  const published = await publishedIntegrity(registry, name, version);
  if (published !== null) {
    if (published === (await integrityOf(path))) return;
    throw new Error(
      `${name}@${version} is in ${registry} with other content: a published version stays as it is, so raise "version" in package.json, and run npm run generate`,
    );
  }
  process.stderr.write(`gw release: publishing ${name}@${version}\n`);
  const flags = ['--registry', registry, '--access', 'public', '--tag', npmTag];
  await ask('npm', ['publish', path, ...flags, ...(npmProvenance ? ['--provenance'] : [])]);
}

async function filesOf(folder: string, step: string): Promise<readonly string[]> {
  const files = await readdir(folder).catch(() => []);
  if (files.length === 0) throw new Error(`${folder} is empty: run the step ${step} before publish`);
  return files.filter((file) => file.endsWith('.tgz')).toSorted();
}

/** Null if the registry does not have it. npm, which knows credentials, is asked only if the registry wants some. */
async function publishedIntegrity(registry: string, name: string, version: string): Promise<string | null> {
  const response = await fetch(new URL(encodeURIComponent(name), registry.replace(/\/?$/, '/')));
  if (response.status === 404) return null;
  if (response.ok) {
    const { versions }: Packument = JSON.parse(await response.text());
    return versions[version]?.dist.integrity ?? null;
  }
  const printed = await ask('npm', [
    ...['view', `${name}@${version}`, 'dist.integrity', '--json', '--registry', registry],
  ]).catch((error: Error) => {
    if (error.message.includes('E404')) return '';
    throw error;
  });
  return printed.trim() === '' ? null : JSON.parse(printed);
}

interface Packument {
  readonly versions: Readonly<Record<string, { readonly dist: { readonly integrity: string } }>>;
}

async function integrityOf(path: string): Promise<string> {
  return `sha512-${createHash('sha512')
    .update(await readFile(path))
    .digest('base64')}`;
}

async function packageJson(path: string): Promise<{ readonly name: string; readonly version: string }> {
  const json = (await readArchive(path)).find(({ name }) => name === 'package/package.json');
  if (!json) throw new Error(`${path} has no package.json`);
  return JSON.parse(json.content.toString());
}
