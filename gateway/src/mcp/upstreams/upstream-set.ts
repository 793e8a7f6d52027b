/** The upstreams of one artifact, their tools merged: names of operations win, then upstreams in the order of their names. */

import type { OfferedTool } from './definition.ts';
import type { UpstreamServices } from './services.ts';
import type { UpstreamServer } from './upstream-server.ts';

export interface UpstreamTool {
  readonly server: UpstreamServer;
  readonly tool: OfferedTool;
}

export class UpstreamSet {
  readonly servers: readonly UpstreamServer[];
  readonly #taken: ReadonlySet<string>;
  readonly #services: Pick<UpstreamServices, 'log'>;
  readonly #release: () => void;
  readonly #reported = new Set<string>();
  #merged: ReadonlyMap<string, UpstreamTool> | null = null;
  #closed = false;

  /** `taken`: names that upstreams cannot have. `release`: the artifact is not served any more. */
  constructor(
    servers: readonly UpstreamServer[],
    taken: ReadonlySet<string>,
    services: Pick<UpstreamServices, 'log'>,
    release: () => void,
  ) {
    this.servers = servers;
    this.#taken = taken;
    this.#services = services;
    this.#release = release;
  }

  /** By name, in order. */
  get tools(): ReadonlyMap<string, UpstreamTool> {
    this.#merged ??= this.#merge();
    return this.#merged;
  }

  /** Why a tool of that name, with prefix, is not offered; null: no upstream has one. */
  heldBack(name: string): string | null {
    for (const { settings, catalogue } of this.servers) {
      const why = name.startsWith(settings.prefix) ? catalogue.held.get(name.slice(settings.prefix.length)) : undefined;
      if (why !== undefined) return why;
    }
    return null;
  }

  /** One of the upstreams offers others than before. */
  changed(): void {
    this.#merged = null;
  }

  /** A client has ended its session. */
  endSession(client: string): void {
    for (const server of this.servers) server.endSession(client);
  }

  close(): void {
    if (!this.#closed) this.#release();
    this.#closed = true;
  }

  #merge(): ReadonlyMap<string, UpstreamTool> {
    const merged = new Map<string, UpstreamTool>();
    for (const server of this.servers) {
      for (const [name, tool] of server.catalogue.tools) {
        if (this.#taken.has(name)) this.#hidden(server, name, 'an operation has its name');
        else if (merged.has(name))
          this.#hidden(server, name, `upstream "${merged.get(name)?.server.settings.name}" has its name`);
        else merged.set(name, { server, tool });
      }
    }
    return new Map([...merged].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #hidden({ settings }: UpstreamServer, tool: string, why: string): void {
    const key = `${settings.name}\0${tool}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#services.log('warn', { mcp_upstream: settings.name, tool, why }, 'tool of an MCP upstream is held back');
  }
}
