/**
 * The upstreams of one artifact, with their entries merged: names of operations win, then upstreams in the order of
 * their names (docs/mcp.md#upstream-tools).
 */
import type { Catalogue } from './catalogue.ts';
import type { OfferedTool } from './definition.ts';
import type { OfferedEntry } from './entries.ts';
import type { UpstreamServices } from './services.ts';
import { allows, fitsTemplate } from './settings.ts';
import type { UpstreamServer } from './upstream-server.ts';

export interface UpstreamTool {
  readonly server: UpstreamServer;
  readonly tool: OfferedTool;
}

interface UpstreamEntry {
  readonly server: UpstreamServer;
  readonly entry: OfferedEntry;
}

type Entries = ReadonlyMap<string, UpstreamEntry>;
type EntryKind = 'prompts' | 'resources' | 'templates';

interface Merged {
  /** Tools by name, in order. */
  readonly tools: ReadonlyMap<string, UpstreamTool>;
  readonly entries: Readonly<Record<EntryKind, Entries>>;
}

export class UpstreamSet {
  readonly servers: readonly UpstreamServer[];
  readonly #taken: ReadonlySet<string>;
  readonly #services: Pick<UpstreamServices, 'log'>;
  readonly #release: () => void;
  readonly #reported = new Set<string>();
  #merged: Merged | null = null;
  #closed = false;

  /** `taken`: names that tools of upstreams cannot have. `release`: called once the artifact is no longer served. */
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

  /** Tools by name, in order. */
  get tools(): ReadonlyMap<string, UpstreamTool> {
    return this.#all.tools;
  }

  /** Returns entries by name, URI or template, in order. */
  entries(kind: EntryKind): Entries {
    return this.#all.entries[kind];
  }

  /** Reports whether an upstream has this capability, and something of it may be offered. */
  offers(capability: string): boolean {
    return this.servers.some((server) => {
      const { prompts, resources } = server.settings;
      const wanted =
        capability === 'prompts'
          ? prompts.length > 0
          : capability === 'resources'
            ? resources.length > 0
            : capability !== 'completions' || prompts.length + resources.length > 0;
      return wanted && server.has(capability);
    });
  }

  /**
   * Returns the server that lists the resource or a template of it, else the only one with resources; otherwise null.
   */
  serverOf(uri: string): UpstreamServer | null {
    const may = ({ settings }: UpstreamServer) => allows(settings.resources, uri);
    const listed = this.entries('resources').get(uri)?.server;
    if (listed) return listed;
    const templates = [...this.entries('templates').values()];
    const fitting = templates.find(({ server, entry }) => may(server) && fitsTemplate(entry.own, uri));
    if (fitting) return fitting.server;
    const [only, other] = this.servers.filter(
      (server) => server.has('resources') && server.settings.resources.length > 0,
    );
    return only && !other && may(only) ? only : null;
  }

  /** Returns why a tool of that name, with prefix, is not offered; null: no upstream has one. */
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

  get #all(): Merged {
    this.#merged ??= {
      tools: this.#merge(
        'tools',
        ({ tools }) => tools,
        (server, tool) => ({ server, tool }),
      ),
      entries: {
        prompts: this.#mergeEntries('prompts'),
        resources: this.#mergeEntries('resources'),
        templates: this.#mergeEntries('templates'),
      },
    };
    return this.#merged;
  }

  #mergeEntries(kind: EntryKind): Entries {
    return this.#merge(
      kind,
      (catalogue) => catalogue[kind],
      (server, entry) => ({ server, entry }),
    );
  }

  #merge<T, M extends { readonly server: UpstreamServer }>(
    kind: 'tools' | EntryKind,
    of: (catalogue: Catalogue) => ReadonlyMap<string, T>,
    merged: (server: UpstreamServer, value: T) => M,
  ): ReadonlyMap<string, M> {
    const all = new Map<string, M>();
    const isNamed = kind === 'tools' || kind === 'prompts';
    for (const server of this.servers) {
      for (const [key, value] of of(server.catalogue)) {
        const other = all.get(key)?.server.settings.name;
        const owner = isNamed ? this.#ownerOf(key, server) : null;
        if (kind === 'tools' && this.#taken.has(key)) this.#hidden(server, key, 'an operation has its name');
        else if (owner !== null) this.#hidden(server, key, `it begins with the prefix of upstream "${owner}"`);
        else if (other !== undefined) this.#hidden(server, key, `upstream "${other}" has its name`);
        else all.set(key, merged(server, value));
      }
    }
    return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns another upstream with a longer prefix that the name begins with: such names are reserved for it. */
  #ownerOf(key: string, { settings: { prefix } }: UpstreamServer): string | null {
    const owner = this.servers.find(({ settings: other }) => {
      return other.prefix.length > prefix.length && key.startsWith(other.prefix);
    });
    return owner?.settings.name ?? null;
  }

  #hidden({ settings }: UpstreamServer, name: string, why: string): void {
    const key = `${settings.name}\0${name}`;
    if (this.#reported.has(key) || this.#reported.size >= MOST_REPORTED) return;
    this.#reported.add(key);
    this.#services.log(
      'warn',
      { mcp_upstream: settings.name, tool: name, why },
      'tool of an MCP upstream is held back',
    );
  }
}

/** Names that are said to be hidden: upstreams may have others all the time. */
const MOST_REPORTED = 1_000;
