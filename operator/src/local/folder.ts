/** Keeps the objects of local mode in step with the manifests of a folder. */
import { messageOf } from '@gw/gateway/message-of';
import { watch } from 'chokidar';
import { keyOf } from '../kube/kube-object.ts';
import type { Objects } from '../runtime/objects.ts';
import { identity, type ManifestObject, readManifests } from './manifests.ts';
import type { Report } from './report.ts';

/** Editors write a file in several steps. */
const SETTLE_MS = 120;

export class Folder {
  readonly #dir: string;
  readonly #objects: Objects;
  readonly #report: Report;
  readonly #watcher;
  /** Objects that each file last contained, by identity. */
  readonly #applied = new Map<string, ReadonlyMap<string, ManifestObject>>();
  #timer: NodeJS.Timeout | undefined;
  #loading: Promise<void> = Promise.resolve();
  #ignored = '';
  #problems = new Map<string, string>();

  constructor(dir: string, objects: Objects, report: Report) {
    this.#dir = dir;
    this.#objects = objects;
    this.#report = report;
    this.#watcher = watch(dir, { depth: 0, ignoreInitial: true });
    this.#watcher.on('all', () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.load(), SETTLE_MS);
    });
    this.#watcher.on('error', (error) => report.problem('watching the folder', messageOf(error)));
  }

  /** Reads the folder, applies changes and deletes removed objects. An invalid file changes nothing. */
  load(): Promise<void> {
    const next = this.#loading.then(() => this.#load());
    // A missing folder is reported; the next change tries again.
    this.#loading = next.catch(() => undefined);
    return next;
  }

  /** Names of the files that objects come from. */
  get files(): readonly string[] {
    return [...this.#applied.keys()];
  }

  /** How many objects there are. */
  get size(): number {
    return [...this.#applied.values()].reduce((sum, objects) => sum + objects.size, 0);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#watcher.close();
    await this.#loading;
  }

  async #load(): Promise<void> {
    const { files, problems, ignored } = await readManifests(this.#dir);
    for (const [file, reason] of problems) {
      if (this.#problems.get(file) !== reason) this.#report.problem(file, reason);
    }
    this.#problems = new Map(problems);
    const known = ignored.join(', ');
    if (known !== this.#ignored && known !== '')
      this.#report.note(`ignored, since local mode does not know these kinds: ${known}`);
    this.#ignored = known;
    const before = new Map([...this.#applied.values()].flatMap((objects) => [...objects]));
    for (const [file, objects] of files)
      this.#applied.set(file, new Map(objects.map((object) => [identity(object), object])));
    for (const file of [...this.#applied.keys()])
      if (!files.has(file) && !problems.has(file)) this.#applied.delete(file);
    const after = new Map([...this.#applied.values()].flatMap((objects) => [...objects]));
    for (const { resource, object } of after.values()) await this.#objects.apply(resource, object);
    for (const [id, { resource, object }] of before)
      if (!after.has(id)) await this.#objects.remove(resource, keyOf(object));
  }
}
