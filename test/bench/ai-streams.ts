/**
 * Many slow streams of models at once: clients of chat completions, a provider of messages, whose events are translated,
 * with limits, budgets, and personal data taken out of prompts and answers. Every stream must be answered and complete;
 * says what memory and CPU time the gateway takes.
 *
 *   node test/bench/ai-streams.ts [--streams 2000] [--events 30] [--every 1000] [--ramp 10]
 *
 * `--every`: milliseconds between the events of a stream. `--ramp`: seconds within which the streams begin.
 */
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { compileSpec, startGateway } from '../serve/gateway.ts';
import { cpuTime, memoryMiB } from './load.ts';
import { quietGateway } from './quiet-gateway.ts';
import { Servers } from './servers.ts';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '2000' },
    events: { type: 'string', default: '30' },
    every: { type: 'string', default: '1000' },
    ramp: { type: 'string', default: '10' },
  },
});
const [streams, events] = [Number(values.streams), Number(values.events)];
const [every, ramp] = [Number(values.every), Number(values.ramp)];
const PATH = '/v1/chat/completions';

const profile = <T>(settings: T) => ({ default_profile: 'all', profiles: { all: settings } });
const pii = { email: 'redact', phone: 'redact', card: 'redact' };
const MIDDLEWARES = [
  { name: 'ai-prompt-guard', config: profile({ max_characters: 100_000, pii }) },
  {
    name: 'ai-token-limit',
    config: { partition_key: 'client_ip', ...profile({ quota: 1_000_000_000, window: 3600 }) },
  },
  {
    name: 'ai-cost-tracker',
    config: {
      prices: { '*/*': { prompt: 1, completion: 2 } },
      ...profile({ budgets: [{ limit_usd: 1_000_000, period: 'month', partition_key: 'client_ip' }] }),
    },
  },
  { name: 'ai-response-guard', config: profile({ pii }) },
];

function artifactFor(provider: string): Promise<Uint8Array> {
  const target = { provider: 'provider_messages', base_url: provider, max_tokens: 100 };
  const post = {
    responses: { default: { description: 'any' } },
    requestBody: { content: { 'application/json': { schema: {} } } },
    'x-gw-middlewares': MIDDLEWARES,
    'x-gw-dispatch': { name: 'ai-proxy', config: target },
  };
  const document = { openapi: '3.1.0', info: { title: 'Models', version: '1' }, paths: { [PATH]: { post } } };
  return compileSpec(document, ['ai-proxy', ...MIDDLEWARES.map(({ name }) => name)]);
}

/** How many texts came, and whether it came to its end. */
async function stream(
  url: string,
  agent: Agent,
  model: string,
): Promise<{ texts: number; whole: boolean; status: number }> {
  const messages = [{ role: 'user', content: 'Write to jane@example.com about monads.' }];
  const body = JSON.stringify({ model, messages, stream: true });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    request(url + PATH, { method: 'POST', agent, headers }, resolve)
      .on('error', reject)
      .end(body);
  });
  let [text, done] = ['', false];
  for await (const chunk of answer.setEncoding('utf8')) {
    for (const [, piece = ''] of String(chunk).matchAll(/"content":"([^"]*)"/g)) text += piece;
    done ||= String(chunk).includes('data: [DONE]');
  }
  return { texts: text.split('at ').length - 1, whole: done, status: answer.statusCode ?? 0 };
}

const servers = new Servers();
const provider = await servers.program('ai-provider.ts', []);
const gw = await quietGateway(startGateway(await artifactFor(`http://127.0.0.1:${provider.port}`)));
const agent = new Agent({ keepAlive: false });
try {
  for (let i = 0; i < 100; i++) await stream(gw.url, agent, 'bench:2:1');
  const idle = memoryMiB(gw.pid);
  const cpu = cpuTime(gw.pid);
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, memoryMiB(gw.pid));
  }, 500);
  const open: Promise<{ texts: number; whole: boolean; status: number }>[] = [];
  for (let i = 0; i < streams; i++) {
    open.push(stream(gw.url, agent, `bench:${events}:${every}`));
    if (i % 20 === 19) await pause((ramp * 1000) / (streams / 20));
  }
  const all = await Promise.all(open);
  clearInterval(watch);
  const refused = all.filter(({ status }) => status !== 200).length;
  const incomplete = all.filter(({ texts, whole }) => texts !== events || !whole).length;
  const cpuPerEvent = (cpuTime(gw.pid) - cpu) / (streams * events);
  console.log(
    `${streams} streams of ${events} events: ${refused} refused, ${incomplete} incomplete; ${idle.toFixed(0)} MiB before, ` +
      `${peak.toFixed(0)} at the peak: ${(((peak - idle) * 1024) / streams).toFixed(0)} KiB a stream; ` +
      `${cpuPerEvent.toFixed(0)} µs of CPU an event`,
  );
  if (refused + incomplete > 0) process.exitCode = 1;
} finally {
  agent.destroy();
  await servers.stop();
  await gw.stop();
}
