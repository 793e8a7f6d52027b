/**
 * Messages, side by side in one run: WebSockets beside nginx, publishing (KAFKA_BROKERS, NATS_URL) beside a node:http
 * server that awaits a client library's acknowledgement, with as many requests in flight.
 *
 *   node test/bench/messages.ts [ROUNDS] [SECONDS] [part of a row's name]
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileSpec, type Gateway, startGateway } from '../serve/gateway.ts';
import { createTopic } from '../serve/kafka-client.ts';
import { serveSending } from '../serve/sending.ts';
import { type Figures, measure, median } from './load.ts';
import { jsonScript } from './project.ts';
import { quietGateway } from './quiet-gateway.ts';
import { type Server, Servers } from './servers.ts';
import { measureWebSockets } from './web-socket-load.ts';

const [ROUNDS, SECONDS] = [Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 3)];
const ONLY = process.argv[4] ?? '';

/** Two servers that do the same. */
interface Pair {
  readonly name: string;
  readonly control: string;
  measure(which: 'gateway' | 'control', seconds: number): Promise<Figures>;
}

const servers = new Servers();
const gateways: Gateway[] = [];

async function webSocketPairs(): Promise<Pair[]> {
  const echo = await servers.program('echo-server.ts', []);
  const control = await servers.webSocketControl(echo.port);
  const url = `ws://127.0.0.1:${echo.port}`;
  const get = { responses: {}, 'x-gw-dispatch': { name: 'ws-upstream', config: { url } } };
  const document = { openapi: '3.1.0', info: { title: 'Sockets', version: '1' }, paths: { '/echo': { get } } };
  const gateway = await started(startGateway(await compileSpec(document, ['ws-upstream'])));
  return [100, 10_000].map((bytes) => ({
    name: `WebSocket messages of ${bytes} B`,
    control: 'nginx',
    measure: (which, seconds) =>
      measureWebSockets({ ...(which === 'gateway' ? gateway : control), path: '/echo', bytes }, seconds),
  }));
}

async function publishPair(kind: 'kafka' | 'nats', broker: string, config: object): Promise<Pair> {
  const topic = `bench-${crypto.randomUUID()}`;
  if (kind === 'kafka') await createTopic(broker, topic);
  const control = await servers.program('publish-server.ts', [kind, broker, topic]);
  const [plugin, named] = kind === 'kafka' ? ['stream-publish', { topic }] : ['subject-publish', { subject: topic }];
  const gateway = await started(serveSending(plugin, { orders: { ...config, ...named } }));
  const script = join(servers.dir, `${kind}.lua`);
  const body = JSON.stringify({ id: 42, note: 'x'.repeat(80) });
  writeFileSync(script, jsonScript(body));
  return {
    name: `${kind === 'kafka' ? 'Kafka' : 'NATS'} publishes of 100 B`,
    control: 'node:http and a client library',
    measure(which, seconds) {
      const { port, pid } = which === 'gateway' ? gateway : control;
      return measure({ url: `http://127.0.0.1:${port}/orders`, pid, seconds, script });
    },
  };
}

async function started(starting: Promise<Gateway>): Promise<Server> {
  const gateway = await quietGateway(starting);
  gateways.push(gateway);
  return { port: Number(new URL(gateway.url).port), pid: gateway.pid };
}

async function allPairs(): Promise<Pair[]> {
  const { KAFKA_BROKERS: brokers, NATS_URL: nats } = process.env;
  if (!brokers) process.stderr.write('KAFKA_BROKERS names no broker: Kafka is left out\n');
  if (!nats) process.stderr.write('NATS_URL names no server: NATS is left out\n');
  return [
    ...(await webSocketPairs()),
    ...(brokers ? [await publishPair('kafka', brokers, { brokers })] : []),
    ...(nats ? [await publishPair('nats', nats, { url: nats })] : []),
  ];
}

async function run(pair: Pair, which: 'gateway' | 'control', seconds: number): Promise<Figures> {
  const figures = await pair.measure(which, seconds);
  if (figures.notOk !== 0) throw new Error(`${pair.name}, ${which}: ${figures.notOk} without an answer`);
  return figures;
}

function print(results: ReadonlyMap<Pair, readonly { readonly gateway: Figures; readonly control: Figures }[]>): void {
  console.log('\n| | beside | messages/s | of the other’s | CPU µs/message | of the other’s |');
  console.log('|---|---|---|---|---|---|');
  for (const [{ name, control }, rounds] of results) {
    const of = (figure: 'requestsPerSecond' | 'cpuPerRequest', digits: number) => {
      const [own, ratio] = [
        median(rounds.map(({ gateway }) => gateway[figure])),
        median(rounds.map((round) => round.gateway[figure] / round.control[figure])),
      ];
      return `${own.toFixed(digits)} | ${ratio.toFixed(2)}`;
    };
    console.log(`| ${name} | ${control} | ${of('requestsPerSecond', 0)} | ${of('cpuPerRequest', 1)} |`);
  }
}

try {
  const pairs = (await allPairs()).filter(({ name }) => name.includes(ONLY));
  const results = new Map(pairs.map((pair) => [pair, [] as { gateway: Figures; control: Figures }[]]));
  for (const pair of pairs) for (const which of ['gateway', 'control'] as const) await run(pair, which, 1);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [pair, rounds] of results) {
      const control = await run(pair, 'control', SECONDS);
      rounds.push({ control, gateway: await run(pair, 'gateway', SECONDS) });
    }
    process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`);
  }
  print(results);
} finally {
  await Promise.all([servers.stop(), ...gateways.map((gateway) => gateway.stop())]);
}
