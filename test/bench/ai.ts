/**
 * AI gateways, side by side in one run: what each adds to the first text of a stream and to the later ones, CPU time of a
 * request, memory. One process each, the same provider and the same steady load; access logs off.
 *
 *   GW_BENCH_LITELLM=litellm GW_BENCH_PORTKEY='node …/@portkey-ai/gateway/build/start-server.js' \
 *     node test/bench/ai.ts [ROUNDS] [SECONDS]
 *
 * The variables are commands (`pip install 'litellm[proxy]'`, `npm install @portkey-ai/gateway`, whose streams fail with
 * newer versions of hono: with `"overrides": { "hono": "4.9.7", "@hono/node-server": "1.13.8" }` they work); without one,
 * its row is left out.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileSpec, type Gateway, startGateway } from '../serve/gateway.ts';
import { type AiFigures, type AiRate, measureAi, measureAiRate } from './ai-load.ts';
import { median, memoryMiB } from './load.ts';
import { quietGateway } from './quiet-gateway.ts';
import { type Server, Servers } from './servers.ts';

const [ROUNDS, SECONDS] = [Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 5)];
const PATH = '/v1/chat/completions';
const MODEL = 'bench:20:20';
const KEY = 'sk-bench-0123456789-0123456789-0123456789';
/** Requests a second that every gateway can serve. */
const [WHOLE_RATE, STREAM_RATE] = [25, 10];
/** Where it is to be as fast as it can. */
const AT_ONCE = 16;
const DIRECT = 'the provider itself';
const BARE = 'bare node:http + undici';
const LITELLM = 'LiteLLM';

interface Subject {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const servers = new Servers();
const gateways: Gateway[] = [];

const POLICIES = [
  { name: 'apikey-auth', config: { keys: [{ key: 'env://BENCH_KEY', id: 'bench' }] } },
  {
    name: 'ai-prompt-guard',
    config: {
      default_profile: 'all',
      profiles: {
        all: {
          max_characters: 100_000,
          blocked_patterns: ['(?i:ignore (all )?previous instructions)'],
          pii: { email: 'redact', phone: 'redact', card: 'block' },
        },
      },
    },
  },
  { name: 'ai-cache', config: {} },
  {
    name: 'ai-cost-tracker',
    config: {
      prices: { 'provider_chat/*': { prompt: 1, completion: 2 } },
      default_profile: 'all',
      profiles: { all: { budgets: [{ limit_usd: 1_000_000, period: 'month' }] } },
    },
  },
];

async function gateway(name: string, provider: Server, middlewares: readonly object[]): Promise<Subject> {
  const target = {
    provider: 'provider_chat',
    base_url: `http://127.0.0.1:${provider.port}`,
    api_key: 'env://BENCH_KEY',
  };
  const post = {
    responses: { default: { description: 'any' } },
    requestBody: { content: { 'application/json': { schema: {} } } },
    security: middlewares.length === 0 ? [] : [{ key: [] }],
    'x-gw-middlewares': middlewares,
    'x-gw-dispatch': { name: 'ai-proxy', config: target },
  };
  const document = {
    ...{ openapi: '3.1.0', info: { title: 'Models', version: '1' }, paths: { [PATH]: { post } } },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
  };
  const plugins = ['ai-proxy', 'apikey-auth', 'ai-prompt-guard', 'ai-cache', 'ai-cost-tracker'];
  const artifact = await compileSpec(document, plugins);
  const gw = await quietGateway(startGateway(artifact, { env: { BENCH_KEY: KEY } }));
  gateways.push(gw);
  return { name, pid: gw.pid, url: gw.url + PATH, headers: { 'x-api-key': KEY } };
}

async function litellm(command: string, provider: Server): Promise<Subject> {
  const config = join(servers.dir, 'litellm.json');
  const parameters = { model: `openai/${MODEL}`, api_base: `http://127.0.0.1:${provider.port}/v1`, api_key: KEY };
  writeFileSync(config, JSON.stringify({ model_list: [{ model_name: MODEL, litellm_params: parameters }] }));
  const { port, pid } = await servers.command(
    [...command.split(' '), '--config', config, '--host', '127.0.0.1', '--num_workers', '1', '--telemetry', 'False'],
    (own) => ['--port', String(own)],
    { LITELLM_MASTER_KEY: KEY, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' },
  );
  return { name: LITELLM, pid, url: `http://127.0.0.1:${port}${PATH}`, headers: { authorization: `Bearer ${KEY}` } };
}

async function portkey(command: string, provider: Server): Promise<Subject> {
  const { port, pid } = await servers.command([...command.split(' '), '--headless'], (own) => [`--port=${own}`]);
  const headers = {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${provider.port}/v1`,
    authorization: `Bearer ${KEY}`,
  };
  return { name: 'Portkey', pid, url: `http://127.0.0.1:${port}${PATH}`, headers };
}

async function subjects(): Promise<Subject[]> {
  const provider = await servers.program('ai-provider.ts', []);
  const bare = await servers.program('bare-pair.ts', [`http://127.0.0.1:${provider.port}`]);
  const all: Subject[] = [
    { name: DIRECT, pid: provider.pid, url: `http://127.0.0.1:${provider.port}${PATH}` },
    { name: BARE, pid: bare.pid, url: `http://127.0.0.1:${bare.port}${PATH}` },
    await gateway('gw', provider, []),
    await gateway('gw: key, guard, budget, cache', provider, POLICIES),
  ];
  const { GW_BENCH_LITELLM, GW_BENCH_PORTKEY } = process.env;
  if (GW_BENCH_LITELLM) all.push(await litellm(GW_BENCH_LITELLM, provider));
  else process.stderr.write('GW_BENCH_LITELLM names no command: LiteLLM is left out\n');
  if (GW_BENCH_PORTKEY) all.push(await portkey(GW_BENCH_PORTKEY, provider));
  else process.stderr.write('GW_BENCH_PORTKEY names no command: Portkey is left out\n');
  return all;
}

interface Round {
  readonly whole: AiFigures;
  readonly stream: AiFigures;
  readonly fast: AiRate;
}

/** All that was measured of one subject. */
class Taken {
  readonly #rounds: Round[] = [];

  add(round: Round): void {
    this.#rounds.push(round);
  }

  /** Of the delays of all rounds, in milliseconds. */
  delay(of: 'whole' | 'first' | 'texts', share: number): number {
    const delays = this.#rounds.flatMap(({ whole, stream }) => {
      if (of === 'whole') return whole.first;
      return of === 'first' ? stream.first : stream.texts;
    });
    return delays.toSorted((one, other) => one - other)[Math.floor(delays.length * share)] ?? Number.NaN;
  }

  /** Microseconds of CPU time. */
  cpu(of: 'stream' | 'fast'): number {
    return median(this.#rounds.map((each) => each[of].cpuPerRequest));
  }

  get rate(): number {
    return median(this.#rounds.map(({ fast }) => fast.requestsPerSecond));
  }
}

async function measured(subject: Subject, seconds: number): Promise<Round> {
  const load = { ...subject, model: MODEL, seconds };
  return {
    fast: await measureAiRate(load, AT_ONCE),
    whole: await measureAi({ ...load, stream: false, rate: WHOLE_RATE }),
    stream: await measureAi({ ...load, stream: true, rate: STREAM_RATE }),
  };
}

const HEAD = [
  ...['', 'whole answer: added ms, p50 and p99', 'first text of a stream', 'later texts'],
  ...[
    `whole answers, ${AT_ONCE} at a time, a second`,
    'CPU ms of one',
    'of a stream',
    'LiteLLM’s of these, times',
    'MiB',
  ],
];

/** What is added to the provider's own delays: differences of quantiles. */
function print(all: ReadonlyMap<Subject, Taken>): void {
  const [direct] = all.values();
  if (direct === undefined) return;
  const other = [...all].find(([{ name }]) => name === LITELLM)?.[1];
  console.log(`\n| ${HEAD.join(' | ')} |\n|${'---|'.repeat(HEAD.length)}`);
  for (const [subject, taken] of all) {
    if (subject.name === DIRECT) continue;
    const added = (of: 'whole' | 'first' | 'texts') =>
      [0.5, 0.99].map((share) => (taken.delay(of, share) - direct.delay(of, share)).toFixed(2)).join('; ');
    const cpu = (['fast', 'stream'] as const).map((of) => taken.cpu(of) / 1000);
    const times = (['fast', 'stream'] as const).map((of) =>
      ((other?.cpu(of) ?? Number.NaN) / taken.cpu(of)).toFixed(1),
    );
    const cells = [
      ...[subject.name, added('whole'), added('first'), added('texts'), taken.rate.toFixed(0)],
      ...[...cpu.map((each) => each.toFixed(2)), times.join('; '), memoryMiB(subject.pid).toFixed(0)],
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

try {
  const all = new Map((await subjects()).map((subject) => [subject, new Taken()]));
  for (const subject of all.keys()) {
    process.stderr.write(`${subject.name}\n`);
    await measured(subject, 3);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [subject, taken] of all) taken.add(await measured(subject, SECONDS));
    process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`);
  }
  print(all);
} finally {
  await Promise.all([servers.stop(), ...gateways.map((each) => each.stop())]);
}
