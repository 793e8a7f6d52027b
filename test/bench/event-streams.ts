/**
 * What streams of events cost: many clients of one topic of Kafka (KAFKA_BROKERS), at growing rates. Every client must get
 * every message, those that read what they get in order; says how late they come, and what CPU and memory the gateway
 * takes.
 *
 *   node test/bench/event-streams.ts [--clients 1000] [--rates 20,100,200] [--seconds 10] [--bytes 200] [--batch 50]
 *
 * `--batch`: milliseconds between messages that are published together.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { eventually } from '../eventually.ts';
import { createTopic, client as kafkaClient } from '../serve/kafka-client.ts';
import { serveReceiving } from '../serve/receiving.ts';
import type { Came, ClientsOf } from './event-stream-clients.ts';
import { cpuTime, memoryMiB } from './load.ts';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '1000' },
    rates: { type: 'string', default: '20,100,200' },
    seconds: { type: 'string', default: '10' },
    bytes: { type: 'string', default: '200' },
    batch: { type: 'string', default: '50' },
  },
});
const [clients, seconds, bytes] = [Number(values.clients), Number(values.seconds), Number(values.bytes)];
const batchMs = Number(values.batch);
const brokers = process.env['KAFKA_BROKERS'];
if (brokers === undefined) throw new Error('KAFKA_BROKERS names no broker');

/** Messages that are published together at most: brokers take no more than 1 MiB at once. */
const MOST_TOGETHER = 2_000;

/** Clients in threads of their own, so that they do not hold up the publisher. */
class Clients {
  readonly #threads: readonly Worker[];

  constructor(port: number, clients: number, threads: number) {
    const file = join(import.meta.dirname, 'event-stream-clients.ts');
    const workerData: ClientsOf = { port, clients: clients / threads };
    this.#threads = Array.from({ length: threads }, () => new Worker(file, { workerData }));
    for (const each of this.#threads) each.on('error', (error) => process.stderr.write(`${String(error)}\n`));
  }

  async came(): Promise<Came> {
    const all = await Promise.all(this.#threads.map((thread) => this.#ask(thread)));
    return {
      open: all.reduce((sum, { open }) => sum + open, 0),
      fewest: Math.min(...all.map(({ fewest }) => fewest)),
      events: all.reduce((sum, { events }) => sum + events, 0),
      delays: all.flatMap(({ delays }) => delays),
    };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((each) => each.terminate()));
  }

  async #ask(thread: Worker): Promise<Came> {
    const answer = once(thread, 'message');
    thread.postMessage(null);
    const [came]: Came[] = await answer;
    if (came === undefined) throw new Error('the clients have ended');
    return came;
  }
}

const cpuOf = (pid: number) => cpuTime(pid) / 1e6;

const topic = `bench-${crypto.randomUUID()}`;
await createTopic(brokers, topic);
const gw = await serveReceiving('stream-subscribe', { orders: { brokers, topic, max_clients: clients } });
const pid = gw.pid ?? 0;
const idle = memoryMiB(pid);
const all = new Clients(Number(new URL(gw.url).port), clients, 2);
await eventually(async () => (await all.came()).open === clients);
console.log(`${clients} clients are open: ${(memoryMiB(pid) - idle).toFixed(0)} MiB more than ${idle.toFixed(0)}`);

const producer = kafkaClient(brokers).producer();
await producer.connect();
const padding = 'x'.repeat(Math.max(0, bytes - 25));
let sequence = 0;
for (const rate of values.rates.split(',').map(Number)) {
  const before = (await all.came()).events;
  const [cpu, since] = [cpuOf(pid), performance.now()];
  const end = since + seconds * 1_000;
  let sent = 0;
  while (performance.now() < end) {
    const due = Math.min(MOST_TOGETHER, Math.floor(((performance.now() - since) / 1_000) * rate) - sent);
    const messages = Array.from({ length: due }, () => ({ value: `${sequence++} ${Date.now()} ${padding}` }));
    sent += due;
    if (due > 0) await producer.send({ topic, messages, acks: 1 });
    await pause(batchMs);
  }
  let delays: readonly number[] = [];
  const events = await eventually(async () => {
    const came = await all.came();
    delays = delays.concat(came.delays);
    return came.fewest >= sequence && came.events - before;
  });
  if (events !== sent * clients) throw new Error(`${events} events came of ${sent * clients}`);
  const took = (performance.now() - since) / 1_000;
  const sorted = delays.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)];
  console.log(
    `${rate} messages/s for ${seconds} s: ${events} events, the last after ${took.toFixed(1)} s; ` +
      `${at(0.5)} ms at the median, ${at(0.99)} ms at the 99th percentile; ` +
      `sent at ${(sent / seconds).toFixed(0)}/s; ${(((cpuOf(pid) - cpu) / took) * 100).toFixed(0)} % of a CPU, ${memoryMiB(pid).toFixed(0)} MiB`,
  );
}
await producer.disconnect();
await all.stop();
process.exitCode = await gw.stop();
