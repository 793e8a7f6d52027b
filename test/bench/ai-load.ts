/** Requests to models at a steady rate, whatever the answers take, and how late what is in them came. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { cpuTime } from './load.ts';

export interface AiLoad {
  readonly url: string;
  readonly pid: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly model: string;
  readonly stream: boolean;
  /** Requests a second. */
  readonly rate: number;
  readonly seconds: number;
}

export interface AiFigures {
  /** Milliseconds from asking to the first text, of each request. */
  readonly first: readonly number[];
  /** Milliseconds from the provider to the client, of each text. */
  readonly texts: readonly number[];
  /** Microseconds of the server's CPU time. */
  readonly cpuPerRequest: number;
}

const AT = /at (\d{10,}) /g;

/** Throws where an answer is none, or lacks its text. */
export async function measureAi(load: AiLoad): Promise<AiFigures> {
  const agent = new Agent({ keepAlive: true });
  const [first, texts]: [number[], number[]] = [[], []];
  const count = Math.round(load.rate * load.seconds);
  const [cpu, since] = [cpuTime(load.pid), performance.now()];
  const asked: Promise<void>[] = [];
  for (let i = 0; i < count; i++) {
    const due = since + (i * 1000) / load.rate - performance.now();
    if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
    asked.push(
      ask(load, agent, i).then((delays) => {
        first.push(delays.first);
        texts.push(...delays.texts);
      }),
    );
  }
  await Promise.all(asked);
  agent.destroy();
  return { first, texts, cpuPerRequest: (cpuTime(load.pid) - cpu) / count };
}

export interface AiRate {
  readonly requestsPerSecond: number;
  /** Microseconds of the server's CPU time. */
  readonly cpuPerRequest: number;
}

/** So many requests at a time, each as soon as one has its answer. */
export async function measureAiRate(load: Omit<AiLoad, 'rate' | 'stream'>, concurrency: number): Promise<AiRate> {
  const agent = new Agent({ keepAlive: true });
  const [cpu, since] = [cpuTime(load.pid), performance.now()];
  let count = 0;
  const work = async (): Promise<void> => {
    while (performance.now() - since < load.seconds * 1000) await ask({ ...load, stream: false }, agent, count++);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  agent.destroy();
  const seconds = (performance.now() - since) / 1000;
  return { requestsPerSecond: count / seconds, cpuPerRequest: (cpuTime(load.pid) - cpu) / count };
}

/** Each prompt is another, so that no cache has it. */
async function ask(load: Omit<AiLoad, 'rate'>, agent: Agent, i: number): Promise<{ first: number; texts: number[] }> {
  const messages = [
    { role: 'user', content: `What is a monad, said in ${i} words, to ${process.hrtime.bigint()} people?` },
  ];
  const body = JSON.stringify({ model: load.model, messages, stream: load.stream });
  const began = process.hrtime.bigint();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...load.headers };
    request(load.url, { method: 'POST', agent, headers }, resolve).on('error', reject).end(body);
  });
  const texts: number[] = [];
  let [first, all] = [Number.NaN, ''];
  for await (const chunk of answer.setEncoding('utf8')) {
    const now = process.hrtime.bigint();
    for (const [, at = ''] of String(chunk).matchAll(AT)) {
      if (texts.length === 0) first = Number(now - began) / 1e6;
      texts.push(Number(now - BigInt(at)) / 1e6);
    }
    all += all.length < 1000 ? chunk : '';
  }
  if (answer.statusCode !== 200 || texts.length === 0) throw new Error(`${load.url}: ${answer.statusCode} ${all}`);
  return { first, texts };
}
