/**
 * What streams of events cost: many clients of one topic of Kafka (KAFKA_BROKERS), at growing rates. Every client must get
 * every message in order; says how late they come, and what CPU and memory the gateway takes.
 *
 *   node test/bench/event-streams.ts [--clients 1000] [--rates 20,100,200] [--seconds 10] [--bytes 200] [--batch 50]
 *
 * `--batch`: milliseconds between messages that are published together.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventually } from '../eventually.ts';
import { createTopic, client as kafkaClient } from '../serve/kafka-client.ts';
import { serveReceiving } from '../serve/receiving.ts';
import { cpuTime } from './load.ts';

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

class Client {
  readonly socket: Socket;
  next = 0;
  readonly delays: number[] = [];
  open = false;
  #rest = '';

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1', () => this.socket.write('GET /orders HTTP/1.1\r\nHost: a\r\n\r\n'));
    this.socket.setEncoding('latin1').on('data', (text: string) => this.#read(text));
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('retry:')) this.open = true;
      if (!line.startsWith('data: ')) continue;
      const [, sequence, sentAt] = line.split(' ');
      if (Number(sequence) !== this.next++)
        throw new Error(`message ${sequence} came in the place of ${this.next - 1}`);
      this.delays.push(Date.now() - Number(sentAt));
    }
  }
}

const cpuOf = (pid: number) => cpuTime(pid) / 1e6;
const memoryOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

const topic = `bench-${crypto.randomUUID()}`;
await createTopic(brokers, topic);
const gw = await serveReceiving('stream-subscribe', { orders: { brokers, topic, max_clients: clients } });
const pid = gw.pid ?? 0;
const idle = memoryOf(pid);
const all = Array.from({ length: clients }, () => new Client(Number(new URL(gw.url).port)));
await eventually(() => all.every(({ open }) => open));
console.log(`${clients} clients are open: ${(memoryOf(pid) - idle).toFixed(0)} MiB more than ${idle.toFixed(0)}`);

const producer = kafkaClient(brokers).producer();
await producer.connect();
const padding = 'x'.repeat(Math.max(0, bytes - 25));
let sequence = 0;
for (const rate of values.rates.split(',').map(Number)) {
  for (const each of all) each.delays.length = 0;
  const [cpu, since] = [cpuOf(pid), performance.now()];
  const end = since + seconds * 1_000;
  let sent = 0;
  while (performance.now() < end) {
    const due = Math.floor(((performance.now() - since) / 1_000) * rate) - sent;
    const messages = Array.from({ length: due }, () => ({ value: `${sequence++} ${Date.now()} ${padding}` }));
    sent += due;
    if (due > 0) await producer.send({ topic, messages, acks: 1 });
    await pause(batchMs);
  }
  await eventually(() => all.every(({ next }) => next === sequence));
  const took = (performance.now() - since) / 1_000;
  const delays = all.flatMap((each) => each.delays).sort((one, other) => one - other);
  const at = (share: number) => delays[Math.floor(delays.length * share)];
  console.log(
    `${rate} messages/s for ${seconds} s: ${delays.length} events in order, the last after ${took.toFixed(1)} s; ` +
      `${at(0.5)} ms at the median, ${at(0.99)} ms at the 99th percentile; ` +
      `${(((cpuOf(pid) - cpu) / took) * 100).toFixed(0)} % of a CPU, ${memoryOf(pid).toFixed(0)} MiB`,
  );
}
await producer.disconnect();
for (const { socket } of all) socket.destroy();
process.exitCode = await gw.stop();
