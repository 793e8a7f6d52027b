/** The client connections of this process, by client network: which of them end for others when there are too many. */
import type { Socket } from 'node:net';
import { siteOf } from '../client-network.ts';
import type { Eviction } from './connection-shares.ts';

/** Connections that are looked at for an idle one. */
const MOST_LOOKED_AT = 64;

/** Milliseconds in which a connection that has come is expected to speak. */
const YOUNG_MS = 1000;

/** A connection of HTTP, as far as it may have to end for others. */
export interface ConnectionUse {
  /** A request is under way, or the connection has left HTTP. */
  readonly busy: boolean;
  /** Ends it: requests under way are lost. */
  close(): void;
}

export class OpenConnection {
  /** Network of the client; null: a trusted proxy, which owns no share. */
  readonly owner: string | null;
  readonly #socket: Socket;
  /** Null until it has sent enough to tell. */
  use: ConnectionUse | null = null;
  /** Its place is already given to another. */
  gaveWay = false;
  readonly #openedAt = performance.now();

  constructor(owner: string | null, socket: Socket) {
    this.owner = owner;
    this.#socket = socket;
  }

  get young(): boolean {
    return performance.now() - this.#openedAt < YOUNG_MS;
  }

  close(): void {
    this.gaveWay = true;
    if (this.use === null) this.#socket.destroy();
    else this.use.close();
  }
}

export class OpenConnections {
  /** Connections by site and then by network, in the order of arrival, except those that were examined. */
  readonly #sites = new Map<string, Map<string, Set<OpenConnection>>>();
  /** Connections by their ends: TLS puts another socket over the accepted one. */
  readonly #bySocket = new Map<string, OpenConnection>();

  open(owner: string | null, socket: Socket): OpenConnection {
    const connection = new OpenConnection(owner, socket);
    const ends = endsOf(socket);
    this.#bySocket.set(ends, connection);
    socket.once('close', () => {
      this.#bySocket.delete(ends);
      this.#remove(connection);
    });
    if (owner === null) return connection;
    const networks = this.#sites.get(siteOf(owner)) ?? new Map<string, Set<OpenConnection>>();
    const held = networks.get(owner) ?? new Set();
    this.#sites.set(siteOf(owner), networks.set(owner, held.add(connection)));
    return connection;
  }

  /** Notes the use of a connection, once that is known. */
  used(socket: Socket, use: ConnectionUse): void {
    const connection = this.#bySocket.get(endsOf(socket));
    if (connection) connection.use = use;
  }

  /**
   * Ends a silent connection, else an idle one, of the network that holds most in one of the sites; else, with `busy`,
   * the newest one of the first site. Returns its owner, or null if no connection can end.
   */
  endOneOf({ sites, busy, young }: Eviction): string | null {
    const first = this.#mostOf(sites[0]);
    const found = firstOf(sites, (site) => idleOf(this.#mostOf(site), young)) ?? (busy ? lastOf(first) : null);
    if (found === null) return null;
    this.#remove(found);
    found.close();
    return found.owner;
  }

  #mostOf(site: string | undefined): Set<OpenConnection> {
    let most = new Set<OpenConnection>();
    for (const held of this.#sites.get(site ?? '')?.values() ?? []) if (held.size > most.size) most = held;
    return most;
  }

  #remove(connection: OpenConnection): void {
    const { owner } = connection;
    if (owner === null) return;
    const site = siteOf(owner);
    const networks = this.#sites.get(site);
    const held = networks?.get(owner);
    if (!networks || !held?.delete(connection)) return;
    if (held.size === 0) networks.delete(owner);
    if (networks.size === 0) this.#sites.delete(site);
  }
}

function firstOf<T>(sites: readonly string[], look: (site: string) => T | null): T | null {
  for (const site of sites) {
    const found = look(site);
    if (found !== null) return found;
  }
  return null;
}

/** Returns an idle connection; busy ones that were examined are examined again last. */
function idleOf(held: Set<OpenConnection>, young: boolean): OpenConnection | null {
  let idle: OpenConnection | null = null;
  let looked = 0;
  for (const each of held) {
    if (++looked > MOST_LOOKED_AT) break;
    const yields = each.use?.busy !== true && (young || !each.young);
    if (yields && each.use === null) return each;
    if (yields) idle ??= each;
    else if (held.size > MOST_LOOKED_AT) {
      held.delete(each);
      held.add(each);
    }
  }
  return idle;
}

function lastOf(held: Set<OpenConnection>): OpenConnection | null {
  return [...held].at(-1) ?? null;
}

function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}
