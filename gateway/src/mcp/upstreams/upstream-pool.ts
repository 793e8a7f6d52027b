/**
 * The upstream MCP servers of a process: artifacts with equal settings of one share it, so that a reload lists nothing
 * anew.
 */
import type { McpUpstreamFigures } from '../../telemetry/figures.ts';
import type { UpstreamServices } from './services.ts';
import type { UpstreamSettings } from './settings.ts';
import { UpstreamServer } from './upstream-server.ts';
import { UpstreamSet } from './upstream-set.ts';

interface Shared {
  readonly server: UpstreamServer;
  readonly users: Set<UpstreamSet>;
}

export class UpstreamPool {
  readonly #services: UpstreamServices;
  readonly #changed: () => void;
  readonly #shared = new Map<string, Shared>();

  /** `changed`: clients are offered other tools than before. */
  constructor(services: UpstreamServices, changed: () => void) {
    this.#services = services;
    this.#changed = changed;
  }

  /** Figures by name; if several share a name, while one artifact takes over from another, those of the newest. */
  get figures(): readonly McpUpstreamFigures[] {
    const byName = [...this.#shared.values()].map(({ server: { settings, catalogue } }) => {
      const figures = { upstream: settings.name, offered: catalogue.tools.size, held: catalogue.held.size };
      return [settings.name, figures] as const;
    });
    return [...new Map(byName).values()];
  }

  /** `taken`: names of the artifact's own tools. */
  open(settings: readonly UpstreamSettings[], taken: ReadonlySet<string>): UpstreamSet {
    const keys = settings.map((each) => JSON.stringify(each));
    const found = settings.map((each, i) => this.#find(keys[i] as string, each));
    const set = new UpstreamSet(
      found.map(({ server }) => server),
      taken,
      this.#services,
      () => this.#release(keys, set),
    );
    for (const { users } of found) users.add(set);
    return set;
  }

  #find(key: string, settings: UpstreamSettings): Shared {
    const known = this.#shared.get(key);
    if (known) return known;
    const users = new Set<UpstreamSet>();
    const server = new UpstreamServer(settings, this.#services, () => {
      for (const set of users) set.changed();
      this.#changed();
    });
    const shared = { server, users };
    this.#shared.set(key, shared);
    server.start();
    return shared;
  }

  #release(keys: readonly string[], set: UpstreamSet): void {
    for (const key of keys) {
      const shared = this.#shared.get(key);
      shared?.users.delete(set);
      if (shared?.users.size !== 0) continue;
      this.#shared.delete(key);
      shared.server.close();
    }
  }
}
