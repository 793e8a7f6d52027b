/** Brokers of one cluster as a client of their own sees them: a connection to each that is asked, and their topics. */
import { type EgressGuard, EgressRefused } from '../../../kit.ts';
import { secureContextOf } from '../publishing/broker-tls.ts';
import { ConnectionLost } from './kafka-error.ts';
import type { KafkaBrokers } from './kafka-settings.ts';
import { METADATA, type Node, type Partition } from './protocol.ts';
import { VettedConnection, type VettedOptions } from './vetted-connection.ts';

/** Milliseconds for which leaders are remembered that nothing has put in doubt. */
const METADATA_MAX_AGE_MS = 300_000;

interface KnownTopic {
  readonly partitions: Promise<readonly Partition[]>;
  readonly until: number;
}

export class KafkaCluster {
  readonly #seeds: readonly Node[];
  readonly #options: VettedOptions;
  /** By address. */
  readonly #connections = new Map<string, Promise<VettedConnection>>();
  #nodes: ReadonlyMap<number, Node> = new Map();
  readonly #topics = new Map<string, KnownTopic>();
  #isClosed = false;

  private constructor(seeds: readonly Node[], options: VettedOptions) {
    this.#seeds = seeds;
    this.#options = options;
  }

  /** Rejects with EgressRefused, ConnectionRefused, or the error of the last broker if none accepts it. */
  static async open({ brokers, sasl, tls }: KafkaBrokers, guard: EgressGuard): Promise<KafkaCluster> {
    const options = { guard, sasl, secureContext: tls && secureContextOf(tls) };
    const cluster = new KafkaCluster(brokers.map(addressOf), options);
    await cluster.any();
    return cluster;
  }

  /** Returns a connection to one of the brokers. */
  async any(): Promise<VettedConnection> {
    const known = [...this.#nodes.values(), ...this.#seeds];
    // Another one first each time: one that hangs must not be asked again and again.
    const first = Math.floor(Math.random() * known.length);
    const failures: unknown[] = [];
    for (const address of [...known.slice(first), ...known.slice(0, first)]) {
      try {
        return await this.#connection(address);
      } catch (error) {
        failures.push(error);
      }
    }
    throw failures.find((error) => error instanceof EgressRefused) ?? failures.at(-1);
  }

  /** Returns the connection to a node. */
  async node(id: number): Promise<VettedConnection> {
    const address = this.#nodes.get(id);
    if (address === undefined) throw new Error('the broker that leads a partition is not known');
    return this.#connection(address);
  }

  /** Returns the connection to the broker that leads a partition. */
  async leader(topic: string, partition: number): Promise<VettedConnection> {
    const partitions = await this.partitions(topic);
    return this.node(partitions.find(({ index }) => index === partition)?.leader ?? -1);
  }

  /** Returns the partitions of a topic by their numbers, asked anew if nothing is remembered. */
  partitions(topic: string): Promise<readonly Partition[]> {
    const known = this.#topics.get(topic);
    if (known !== undefined && performance.now() < known.until) return known.partitions;
    const partitions = this.#ask(topic);
    this.#topics.set(topic, { partitions, until: performance.now() + METADATA_MAX_AGE_MS });
    partitions.catch(() => this.forget(topic));
    return partitions;
  }

  /** Asks for the partitions of the topic anew when they are needed next. */
  forget(topic: string): void {
    this.#topics.delete(topic);
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections.values())
      connection.then(
        (each) => each.close(),
        () => {},
      );
  }

  async #ask(topic: string): Promise<readonly Partition[]> {
    const connection = await this.any();
    const { nodes, partitions } = await connection.request(METADATA, topic);
    this.#nodes = nodes;
    return partitions;
  }

  async #connection(address: Node): Promise<VettedConnection> {
    const key = `${address.host}:${address.port}`;
    const current = this.#connections.get(key);
    if (current !== undefined) {
      const connection = await current;
      if (connection.isUsable) return connection;
    }
    if (this.#isClosed) throw new ConnectionLost('the client is closed');
    // Another caller may have replaced it meanwhile.
    const next = this.#connections.get(key);
    if (next !== undefined && next !== current) return next;
    return this.#open(key, address);
  }

  #open(key: string, address: Node): Promise<VettedConnection> {
    const opened = VettedConnection.open(address, this.#options);
    this.#connections.set(key, opened);
    const forget = () => {
      if (this.#connections.get(key) === opened) this.#connections.delete(key);
    };
    opened.then((connection) => {
      void connection.closed.then(forget);
      if (this.#isClosed) connection.close();
    }, forget);
    return opened;
  }
}

function addressOf(text: string): Node {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
