/**
 * ConfigMaps of artifacts whose content is not what their name says. They are immutable, but a user who may delete one
 * may create another of its name: pods that start would fail at it without an explanation.
 */
import { BoundedMap } from '@gw/gateway/bounded-map';
import { KeyedMutex } from '@gw/gateway/keyed-mutex';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { objectNames, storedRevisions } from '../objects/stored-revisions.ts';
import type { Objects } from '../runtime/objects.ts';
import { readArchive, readStored } from './read-archive.ts';

/** Maximum number of remembered revisions. */
const MOST_LOOKED_AT = 10_000;

export class TamperedParts {
  readonly #objects: Pick<Objects, 'get'>;
  /** Whether they are right, by the versions of the ConfigMaps: each is read once. */
  readonly #looked = new BoundedMap<boolean>(MOST_LOOKED_AT);
  /** One after the other, so that many projects take the memory of one. */
  readonly #turns = new KeyedMutex();

  constructor(objects: Pick<Objects, 'get'>) {
    this.#objects = objects;
  }

  /** Returns tampered parts of the revisions that pods of the project may start with; unreadable ones are left out. */
  async of(project: GatewayProject, parts: readonly KubeObject[]): Promise<readonly KubeObject[]> {
    const { revision, latestRevision, rollout } = project.status ?? {};
    const used = new Set([revision, latestRevision, rollout?.revision, rollout?.from]);
    const tampered: KubeObject[] = [];
    for (const stored of storedRevisions(project, parts)) {
      if (stored.image !== undefined || !used.has(stored.revision)) continue;
      const names = new Set(objectNames(project, stored));
      const own = parts.filter(({ metadata }) => names.has(metadata.name));
      if (!(await this.#isRight(project, stored, own))) tampered.push(...own);
    }
    return tampered;
  }

  async #isRight(project: GatewayProject, revision: Revision, own: readonly KubeObject[]): Promise<boolean> {
    const id = own.map(({ metadata: { uid, resourceVersion } }) => `${uid}/${resourceVersion}`).join();
    const known = this.#looked.use(id);
    if (known !== undefined) return known;
    const right = await this.#turns.run('', () => this.#look(project, revision));
    if (right === undefined) return true;
    this.#looked.set(id, right);
    return right;
  }

  /** Reports whether the parts hold the revision; undefined if they cannot be read. */
  async #look(project: GatewayProject, revision: Revision): Promise<boolean | undefined> {
    let bytes: Uint8Array;
    try {
      bytes = await readArchive(this.#objects, () => Promise.reject(new Error('no image')), project, revision);
    } catch {
      return undefined;
    }
    try {
      await readStored(bytes, revision);
      return true;
    } catch {
      return false;
    }
  }
}
