/** Which kinds the API server knows, asked of its discovery pages: every account may read those. */

import { isRecord, type KubeObject, type Resource } from '../kube/kube-object.ts';
import { groupPath } from '../kube/paths.ts';
import { ApiError, type ApiServer } from './api-server.ts';

/**
 * Milliseconds for which an answer is kept: missing kinds are checked when needed, and existing ones seldom disappear.
 */
const KNOWN_MS = 300_000;
const UNKNOWN_MS = 10_000;

interface Answer {
  readonly plurals: ReadonlySet<string>;
  readonly asked: number;
}

export class Discovery {
  readonly #api: ApiServer;
  readonly #answers = new Map<string, Answer>();

  constructor(api: ApiServer) {
    this.#api = api;
  }

  async serves(resource: Resource<KubeObject>): Promise<boolean> {
    const path = groupPath(resource);
    const known = this.#answers.get(path);
    if (known) {
      const served = known.plurals.has(resource.plural);
      if (performance.now() - known.asked < (served ? KNOWN_MS : UNKNOWN_MS)) return served;
    }
    const plurals = await this.#plurals(path);
    this.#answers.set(path, { plurals, asked: performance.now() });
    return plurals.has(resource.plural);
  }

  async #plurals(path: string): Promise<ReadonlySet<string>> {
    try {
      const page = await this.#api.json({ method: 'GET', path });
      const resources = isRecord(page) && Array.isArray(page['resources']) ? page['resources'] : [];
      return new Set(resources.flatMap((each) => (isRecord(each) ? [String(each['name'])] : [])));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return new Set();
      throw error;
    }
  }
}
