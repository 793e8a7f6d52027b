/** Nodes of Kafka of a test's own, to be killed and started again, with a listener for each way to identify oneself. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { freePort } from '../../../../test/free-port.ts';
import { client } from '../../../../test/serve/kafka-client.ts';

const { GW_KAFKA_CLASSPATH = '', TLS_DIR = '' } = process.env;
export const NO_KAFKA_SERVER = GW_KAFKA_CLASSPATH === '' || TLS_DIR === '';

/** Of the user `gw`. */
export const KAFKA_PASSWORD = 'kafka-secret';
const JAVA = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', GW_KAFKA_CLASSPATH];

interface Ports {
  readonly plain: number;
  readonly sasl: number;
  readonly tls: number;
  readonly controller: number;
}

/** How many nodes must have a message before it is acknowledged; one less than all: as many may be away. */
const replicasInSync = (nodes: number) => Math.max(1, nodes - 1);

export class KafkaServer {
  /** From 1 on. */
  readonly id: number;
  readonly #ports: Ports;
  /** Of all nodes, in the order of their ids. */
  readonly #controllers: readonly number[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'gw-kafka-'));
  #child: ChildProcess | null = null;

  private constructor(id: number, ports: Ports, controllers: readonly number[]) {
    this.id = id;
    this.#ports = ports;
    this.#controllers = controllers;
  }

  /** One node that is all there is. */
  static async start(): Promise<KafkaServer> {
    const [server] = await KafkaServer.startCluster(1);
    return server as KafkaServer;
  }

  /** Nodes of which each has every message; where there is more than one, one of them may be away. */
  static async startCluster(size: number): Promise<readonly KafkaServer[]> {
    const ports: Ports[] = [];
    for (let i = 0; i < size; i++) {
      const [plain, sasl, tls, controller] = [await freePort(), await freePort(), await freePort(), await freePort()];
      ports.push({ plain, sasl, tls, controller });
    }
    const controllers = ports.map(({ controller }) => controller);
    const servers = ports.map((each, i) => new KafkaServer(i + 1, each, controllers));
    for (const server of servers) server.#configure();
    await Promise.all(servers.map((server) => server.up()));
    return servers;
  }

  get brokers(): string {
    return `127.0.0.1:${this.#ports.plain}`;
  }

  /** PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 without TLS. */
  get sasl(): string {
    return `127.0.0.1:${this.#ports.sasl}`;
  }

  /** The same with TLS, which asks for a client certificate. */
  get tls(): string {
    return `127.0.0.1:${this.#ports.tls}`;
  }

  /** Starts it, with what it had stored, and waits until it answers. */
  async up(): Promise<void> {
    this.#child = spawn('java', [...JAVA, 'kafka.Kafka', this.#file('server.properties')], { stdio: 'ignore' });
    await eventually(async () => {
      const admin = client(this.brokers).admin({ retry: { retries: 0 } });
      try {
        await admin.connect();
        const { brokers } = await admin.describeCluster();
        expect(brokers.map(({ nodeId }) => nodeId)).toContain(this.id);
      } finally {
        await admin.disconnect();
      }
    });
  }

  /** SIGKILL: it says goodbye to nobody. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  /** SIGSTOP and SIGCONT: it hangs, and goes on. */
  hang(): void {
    this.#child?.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child?.kill('SIGCONT');
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }

  #configure(): void {
    const pem = (name: string) => readFileSync(join(TLS_DIR, name), 'utf8');
    writeFileSync(this.#file('server.pem'), pem('server.key') + pem('server.crt'));
    writeFileSync(this.#file('server.properties'), this.#properties());
    const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=gw,password=${KAFKA_PASSWORD}]`,
    ]);
    const format = ['kafka.tools.StorageTool', 'format', '-t', 'MDEyMzQ1Njc4OWFiY2RlZg'];
    const done = spawnSync('java', [...JAVA, ...format, '-c', this.#file('server.properties'), ...scram], {
      encoding: 'utf8',
    });
    if (done.status !== 0) throw new Error(`Kafka's storage is not formatted: ${done.stderr}`);
  }

  #properties(): string {
    const { plain, sasl, tls, controller } = this.#ports;
    const nodes = this.#controllers.length;
    const jaas = (name: string, module: string, more = '') =>
      ['sasl', 'tls'].map((each) => `listener.name.${each}.${name}.sasl.jaas.config=${module} required${more};`);
    const mechanisms = 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512';
    const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule';
    return [
      'process.roles=broker,controller',
      `node.id=${this.id}`,
      `controller.quorum.voters=${this.#controllers.map((port, i) => `${i + 1}@127.0.0.1:${port}`).join(',')}`,
      `listeners=PLAINTEXT://127.0.0.1:${plain},SASL://127.0.0.1:${sasl},TLS://127.0.0.1:${tls},CONTROLLER://127.0.0.1:${controller}`,
      `advertised.listeners=PLAINTEXT://127.0.0.1:${plain},SASL://127.0.0.1:${sasl},TLS://127.0.0.1:${tls}`,
      'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SASL_SSL',
      'controller.listener.names=CONTROLLER',
      'inter.broker.listener.name=PLAINTEXT',
      `sasl.enabled.mechanisms=${mechanisms}`,
      ...jaas('plain', 'org.apache.kafka.common.security.plain.PlainLoginModule', ` user_gw="${KAFKA_PASSWORD}"`),
      ...jaas('scram-sha-256', scram),
      ...jaas('scram-sha-512', scram),
      'listener.name.tls.ssl.keystore.type=PEM',
      `listener.name.tls.ssl.keystore.location=${this.#file('server.pem')}`,
      'listener.name.tls.ssl.truststore.type=PEM',
      `listener.name.tls.ssl.truststore.location=${join(TLS_DIR, 'ca.crt')}`,
      'listener.name.tls.ssl.client.auth=required',
      `log.dirs=${this.#file('data')}`,
      'auto.create.topics.enable=true',
      'num.partitions=2',
      `default.replication.factor=${nodes}`,
      `min.insync.replicas=${replicasInSync(nodes)}`,
      `offsets.topic.replication.factor=${nodes}`,
      'offsets.topic.num.partitions=1',
      'transaction.state.log.replication.factor=1',
      'transaction.state.log.min.isr=1',
      'group.initial.rebalance.delay.ms=0',
      'broker.session.timeout.ms=3000',
      'broker.heartbeat.interval.ms=500',
      'num.network.threads=1',
      'num.io.threads=2',
      'background.threads=2',
      'log.cleaner.dedupe.buffer.size=4194304',
    ].join('\n');
  }
}
