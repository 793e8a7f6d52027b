/** The files of revisions for data planes that fetch them: out of their ConfigMaps or image, a few kept in memory. */
import { createHash } from 'node:crypto';
import { VERSION_FIELD } from '@gw/gateway/artifact';
import { BoundedMap } from '@gw/gateway/bounded-map';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import type { Objects } from '../runtime/objects.ts';
import { type PullArchive, readArchive, readStored } from '../storage/read-archive.ts';

export interface ArtifactFile {
  readonly bytes: Uint8Array;
  /** SHA-256 of the file, in hex. */
  readonly sha256: string;
  /** Version of the artifact's format: see docs/decisions.md#version-skew. */
  readonly version: number;
}

const MOST_BYTES = 64 << 20;

export class ArtifactFiles {
  readonly #objects: Objects;
  readonly #pull: PullArchive;
  /** Files by the sha256 of the tar, which names the same content in every project. */
  readonly #kept = new BoundedMap<ArtifactFile>(MOST_BYTES);
  readonly #reading = new Map<string, Promise<ArtifactFile>>();
  /** Files are read one after the other, so that many requests take the memory of one. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(objects: Objects, pull: PullArchive) {
    this.#objects = objects;
    this.#pull = pull;
  }

  /** Rejects if the artifact is missing or incomplete. */
  get(project: GatewayProject, revision: Revision): Promise<ArtifactFile> {
    const id = `${project.metadata.uid}/${revision.archive}`;
    const kept = this.#kept.use(id);
    if (kept) return Promise.resolve(kept);
    const reading =
      this.#reading.get(id) ??
      this.#inTurn(async () => fileOf(await readArchive(this.#objects, this.#pull, project, revision), revision))
        .then((file) => {
          this.#keep(id, file);
          return file;
        })
        .finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  /** Keeps an artifact that was just compiled, so that it is not read again. */
  async hold(project: GatewayProject, revision: Revision, archive: Uint8Array): Promise<void> {
    const id = `${project.metadata.uid}/${revision.archive}`;
    if (!this.#kept.get(id)) this.#keep(id, await fileOf(archive, revision));
  }

  #keep(id: string, file: ArtifactFile): void {
    this.#kept.set(id, file, file.bytes.length);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}

async function fileOf(bytes: Uint8Array, revision: Revision): Promise<ArtifactFile> {
  const { manifest } = await readStored(bytes, revision);
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex'), version: manifest[VERSION_FIELD] };
}
