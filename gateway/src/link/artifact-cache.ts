/**
 * The last good artifact in `--cache-dir` (docs/decisions.md#artifact-optional-when-connected), and the id that this
 * instance keeps.
 */
import { hash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { LoadedArchive } from '../artifact/index.ts';
import { readArtifact } from '../artifact/index.ts';
import { MAX_ARCHIVE_BYTES } from '../artifact/source.ts';
import { replaceFile } from '../files/replace-file.ts';
import { errorCode } from '../text/error-code.ts';

/** Content of `artifact.json`; written last, so that the named file is whole. */
const Entry = Type.Object({
  /** Address of the control plane that it came from. */
  control_plane: Type.String(),
  project_id: Type.String(),
  artifact_hash: Type.String(),
  /** Hex, of the file `<sha256>.gwa`. */
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** `artifact_hash` of `--artifact` when this was written; null without one. */
  started_from: Type.Union([Type.String(), Type.Null()]),
});
const entryCheck = Compile(Entry);

/** The origin that a cached artifact must have to be used. */
export interface CacheOrigin {
  readonly controlPlane: string;
  readonly projectId: string;
  /** `artifact_hash` of `--artifact`; another one than the cache has seen was put there since, and is newer. */
  readonly startedFrom: string | null;
}

export interface CachedArchive extends LoadedArchive {
  /** Address of the control plane that it came from. */
  readonly from: string;
}

const INDEX = 'artifact.json';
const MAX_INDEX_BYTES = 16 << 10;

export class ArtifactCache {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Makes the folder if it is missing, for its owner alone. Rejects if it is not writable. */
  async prepare(): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const probe = join(this.#dir, 'writable');
    await replaceFile(probe, new Uint8Array());
    await rm(probe, { force: true });
  }

  /** Returns the same id for each start with this folder; if another folder has it, the control plane reports that. */
  async instanceId(): Promise<string> {
    const file = join(this.#dir, 'instance-id');
    const known = await readText(file, 64).catch(() => '');
    if (/^[A-Za-z0-9._-]{1,64}$/.test(known)) return known;
    const id = randomUUID();
    await replaceFile(file, Buffer.from(id));
    return id;
  }

  /**
   * Returns the artifact stored last, verified as if it had just been fetched; null if the cache is empty. Rejects if
   * it is of another control plane, project or start, is damaged, or lacks a trusted signature.
   */
  async read(origin: CacheOrigin, trustedKeys: readonly string[]): Promise<CachedArchive | null> {
    const index = join(this.#dir, INDEX);
    const text = await readText(index, MAX_INDEX_BYTES).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return null;
      throw error;
    });
    if (text === null) return null;
    const entry: unknown = JSON.parse(text);
    if (!entryCheck.Check(entry)) throw new Error(`${index} is not what this version of gw writes`);
    const other = otherOrigin(entry, origin);
    if (other !== null) throw new Error(other);
    const file = join(this.#dir, `${entry.sha256}.gwa`);
    if ((await stat(file)).size > MAX_ARCHIVE_BYTES) throw new Error(`${file} is too large`);
    const archive = await readFile(file);
    if (hash('sha256', archive, 'hex') !== entry.sha256) throw new Error(`${file} is damaged`);
    const artifact = await readArtifact(archive, { trustedKeys });
    if (artifact.manifest.artifact_hash !== entry.artifact_hash) throw new Error(`${file} is another artifact`);
    return { archive, artifact, from: entry.control_plane };
  }

  /** Replaces the stored artifact. */
  async store({ archive, artifact }: LoadedArchive, origin: CacheOrigin): Promise<void> {
    const sha256 = hash('sha256', archive, 'hex');
    const file = `${sha256}.gwa`;
    await replaceFile(join(this.#dir, file), archive);
    const entry: Static<typeof Entry> = {
      control_plane: origin.controlPlane,
      project_id: origin.projectId,
      artifact_hash: artifact.manifest.artifact_hash,
      sha256,
      started_from: origin.startedFrom,
    };
    await replaceFile(join(this.#dir, INDEX), Buffer.from(`${JSON.stringify(entry, null, 2)}\n`));
    const old = (await readdir(this.#dir)).filter((name) => /^[0-9a-f]{64}\.gwa/.test(name) && name !== file);
    await Promise.all(old.map((name) => rm(join(this.#dir, name), { force: true })));
  }
}

/**
 * Returns why the cache is not used; null if it may be. A project's UUID belongs to one control plane, whatever its
 * address; ids that are names do not.
 */
function otherOrigin(
  entry: Static<typeof Entry>,
  { controlPlane, projectId, startedFrom }: CacheOrigin,
): string | null {
  if (entry.project_id !== projectId) return `it is of another project, ${entry.project_id}`;
  if (entry.control_plane !== controlPlane && !UUID.test(projectId))
    return `it is of another control plane, ${entry.control_plane}`;
  return entry.started_from === startedFrom ? null : '--artifact is another one than when it was stored, and newer';
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function readText(file: string, most: number): Promise<string> {
  if ((await stat(file)).size > most) throw new Error(`${file} is too large`);
  return (await readFile(file, 'utf8')).trim();
}
