/** Files of a release, below the folder that it is built into. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

export const CHECKSUMS = 'checksums.txt';
export const SIGNATURE = `${CHECKSUMS}.sigstore.json`;
/** What was pushed to registries of images, by digest. */
export const PUSHED = 'pushed.json';
export const PROVENANCE = 'provenance.intoto.json';
export const sbomFile = (version: string): string => `gw-${version}.cdx.json`;

/** An image or a chart in a registry. */
export interface Pushed {
  readonly kind: 'image' | 'chart';
  /** `HOST/PATH/NAME`, without the tag. */
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

export interface ReleaseFile {
  /** From the folder of the release, with `/`. */
  readonly name: string;
  readonly sha256: string;
}

/** Every file of the release but those of `without`, in the order of their names. */
export async function releaseFiles(out: string, without: readonly string[] = []): Promise<readonly ReleaseFile[]> {
  const entries = await readdir(out, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(out, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((name) => !without.includes(name))
    .toSorted();
  const files: ReleaseFile[] = [];
  for (const name of names) files.push({ name, sha256: await sha256Of(join(out, name)) });
  return files;
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

export async function writeJson(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** In the order in which they were pushed; each repository once. */
export async function readPushed(out: string): Promise<readonly Pushed[]> {
  return readFile(join(out, PUSHED), 'utf8').then(JSON.parse, () => []);
}

export async function addPushed(out: string, pushed: Pushed): Promise<void> {
  const others = (await readPushed(out)).filter(({ repository }) => repository !== pushed.repository);
  await writeJson(join(out, PUSHED), [...others, pushed]);
}
