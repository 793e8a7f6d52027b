/**
 * Measures a call into a plugin, in microseconds: `node gateway/src/wasm/call.bench.ts` after `npm run plugins`. Each
 * figure is the best of several rounds, with restoring the instance, entering it and the outcome included; bytes are
 * those that the call allocates on the host's heap.
 */
import { join, resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { standaloneCapabilities } from '../../features/standalone.ts';
import { readPluginFolder } from '../../sdk/testing/plugin-folder.ts';
import { recordedExchange } from '../../sdk/testing/recorder.ts';
import type { JsonObject } from '../artifact/format.ts';
import type { Exchange } from '../exchange.ts';
import { builtinPluginFolder } from '../plugins/builtin.ts';
import { ByteWriter } from './binary/bytes.ts';
import { moduleOf, plugin as named } from './binary/module-of.ts';
import { createPluginRuntime, type PluginServices } from './index.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const ROUNDS = 7;
const CALLS = 30_000;

const services: PluginServices = {
  ...(await standaloneCapabilities()),
  openUpstream: (url) => ({ name: url }),
  log: (level, plugin, message) => process.stderr.write(`${level} ${plugin}: ${message}\n`),
  observe: () => () => {},
};
const runtime = createPluginRuntime(services);

const headers = {
  host: 'api.example.com',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  accept: 'application/json',
  'accept-encoding': 'gzip, br',
  'x-request-id': '0f8fad5b-d9cb-469f-a165-70867728950e',
  'x-api-key': 'k-4711',
  'x-trace': '0f8fad5b-d9cb-469f-a165-70867728950e',
  'x-auth-consumer': 'alice',
  'x-auth-consumer-groups': 'writers,staff,readers',
  'content-type': 'application/json',
  origin: 'https://app.example.com',
};

interface Call {
  readonly label: string;
  readonly folder: string;
  readonly config: JsonObject;
  /** Default: `on_request`, or `dispatch` of a dispatcher. */
  readonly hook?: 'on_response';
  readonly body?: string;
}

/** Resets the request, so that no call sees changes of another. */
function refresh(exchange: Exchange, body: string | undefined): void {
  exchange.response.staged = null;
  exchange.answer = null;
  exchange.context = null;
  exchange.response.headerBytes = 0;
  exchange.headers = [...sent];
  exchange.query = 'limit=3';
  exchange.response.headers = [...answered];
  if (body === undefined) return;
  exchange.body = Buffer.from(body);
  exchange.response.body = Buffer.from(body);
}

const sent = [...recordedExchange({ headers }).headers];
const answered = [
  'content-type',
  'application/json',
  'x-powered-by',
  'someone',
  'date',
  'Sat, 01 Jan 2026 00:00:00 GMT',
];

/** The answer that a cache gives from its store. */
async function measureHit(): Promise<void> {
  const { plugin, wasm, complete } = await readPluginFolder(join(root, 'gateway/features/cache/plugins/cache'));
  const bound = await (await runtime.load(plugin, wasm)).bind(complete({ default_ttl: 3600 }));
  const request = () => recordedExchange({ path: '/books/7?limit=3', headers });
  const first = request();
  await bound.onRequest(first);
  first.response.status = 200;
  first.response.headers = ['content-type', 'application/json', 'cache-control', 'public'];
  first.response.body = Buffer.alloc(1024, 0x61);
  await bound.onResponse(first);
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    for (let i = 0; i < CALLS; i++) {
      const exchange = request();
      await bound.onRequest(exchange);
      if (exchange.answer === null) throw new Error('the cache has no answer');
    }
    best = Math.min(best, ((performance.now() - started) * 1000) / CALLS);
  }
  process.stdout.write(
    `${'cache, a hit, with the making of a request'.padEnd(40)} ${best.toFixed(2).padStart(6)} µs\n`,
  );
}

async function measure({ label, folder, config, hook, body }: Call): Promise<void> {
  const { plugin, wasm, complete } = await readPluginFolder(resolve(root, folder));
  const bound = await (await runtime.load(plugin, wasm)).bind(complete(config));
  const entry = hook === 'on_response' ? 'onResponse' : bound.hasRequestHook ? 'onRequest' : 'dispatch';
  const call = (exchange: Exchange) => bound[entry](exchange);
  const exchange = recordedExchange({
    path: '/books/7?limit=3',
    headers,
    operation: { path: '/books/{id}', params: { id: '7' } },
  });
  const run = async (each: (exchange: Exchange) => unknown): Promise<[microseconds: number, bytes: number]> => {
    let best = Number.POSITIVE_INFINITY;
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS; round++) {
      const allocated = getHeapStatistics().total_allocated_bytes;
      const started = performance.now();
      for (let i = 0; i < CALLS; i++) {
        const outcome = each(exchange);
        if (outcome instanceof Promise) await outcome;
        refresh(exchange, body);
      }
      best = Math.min(best, ((performance.now() - started) * 1000) / CALLS);
      least = Math.min(least, (getHeapStatistics().total_allocated_bytes - allocated) / CALLS);
    }
    return [best, least];
  };
  const [bare, bareBytes] = await run(() => undefined);
  const [whole, bytes] = await run(call);
  const figures = `${(whole - bare).toFixed(2).padStart(6)} µs ${Math.max(0, bytes - bareBytes)
    .toFixed(0)
    .padStart(6)} bytes`;
  process.stdout.write(`${label.padEnd(40)} ${figures}\n`);
}

/** Calls whose instances are dropped: fewer of them, so that memory is freed meanwhile. */
const GROWING_CALLS = 300;
/** Pages of memory come slowly on some machines, and the largest number of them can exceed a call's time. */
const GROWING_CPU_MS = 50;

/** Measures an empty hook, and the same with growth of its memory by one page: prints the ratio. */
async function measureGrowth(): Promise<void> {
  const growing = createPluginRuntime(services, { cpuMs: GROWING_CPU_MS });
  let still = 0;
  for (const pages of [0, 1, 15, 255]) {
    const grow = new ByteWriter().u8(0x41).s32(pages).u8(0x40).u8(0).u8(0x1a).u8(0x41).s32(0).u8(0x0b);
    const code = pages === 0 ? [0x41, 0, 0x0b] : grow.take();
    const wasm = moduleOf({
      functions: [
        ['init', 0],
        ['on_request', 0, code],
      ],
    });
    const bound = await (await growing.load(named(), wasm)).bind({});
    const exchange = recordedExchange({});
    const count = pages === 0 ? CALLS : GROWING_CALLS;
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS; round++) {
      const started = performance.now();
      for (let i = 0; i < count; i++) {
        const outcome = bound.onRequest(exchange);
        if ((outcome instanceof Promise ? await outcome : outcome) !== 0) throw new Error('it could not grow');
      }
      best = Math.min(best, ((performance.now() - started) * 1000) / count);
    }
    if (pages === 0) still = best;
    const label = pages === 0 ? 'a page that does not grow' : `grows to ${((pages + 1) * 64).toLocaleString('en')} KiB`;
    const times = pages === 0 ? '' : `, ${Math.round(best / still).toLocaleString('en')} times`;
    process.stdout.write(`${label.padEnd(40)} ${best.toFixed(2).padStart(6)} µs${times}\n`);
    bound.close();
  }
  growing.close();
}

const calls: readonly Call[] = [
  { label: 'empty hook', folder: 'test/fixtures/plugins/empty', config: {} },
  { label: 'two header reads', folder: 'test/fixtures/plugins/two-headers', config: {} },
  { label: 'rate-limit take', folder: builtinPluginFolder('rate-limit'), config: { quota: 1_000_000_000, window: 60 } },
  {
    label: 'apikey-auth, known key',
    folder: builtinPluginFolder('apikey-auth'),
    config: { keys: [{ key: 'k-4711', id: 'alice', name: 'Alice', scopes: ['read', 'write'] }] },
  },
  {
    label: 'apikey-auth, unknown key',
    folder: builtinPluginFolder('apikey-auth'),
    config: { keys: [{ key: 'other', id: 'bob' }] },
  },
  {
    label: 'acl, a group of three',
    folder: builtinPluginFolder('acl'),
    config: { allow_groups: ['admins', 'editors', 'readers'], deny_consumers: ['mallory'] },
  },
  { label: 'acl, refused', folder: builtinPluginFolder('acl'), config: { allow_groups: ['admins'] } },
  {
    label: 'ip-restriction, two ranges',
    folder: builtinPluginFolder('ip-restriction'),
    config: { allow: ['192.0.2.0/24'], deny: ['10.0.0.0/8'] },
  },
  {
    label: 'ip-restriction, 1,000 ranges',
    folder: builtinPluginFolder('ip-restriction'),
    config: { deny: Array.from({ length: 1_000 }, (_, i) => `2001:db8:${i.toString(16)}::/48`) },
  },
  {
    label: 'bot-detection, 3 entries',
    folder: builtinPluginFolder('bot-detection'),
    config: { deny: ['curl', 'python-requests', 'bot'] },
  },
  {
    label: 'bot-detection, 500 entries',
    folder: builtinPluginFolder('bot-detection'),
    config: { deny: Array.from({ length: 500 }, (_, i) => `${String.fromCharCode(97 + (i % 26))}-agent-${i}`) },
  },
  { label: 'request-size-limit', folder: builtinPluginFolder('request-size-limit'), config: { max_bytes: 1000 } },
  { label: 'correlation-id, new', folder: builtinPluginFolder('correlation-id'), config: {} },
  {
    label: 'correlation-id, of the client',
    folder: builtinPluginFolder('correlation-id'),
    config: { header_name: 'x-trace', accept: 'uuid' },
  },
  {
    label: 'cors, allowed origin',
    folder: builtinPluginFolder('cors'),
    config: { allowed_origins: ['https://app.example.com'] },
  },
  {
    label: 'request-transformer, 3 headers',
    folder: builtinPluginFolder('request-transformer'),
    config: { headers: { set: { 'x-a': '1', 'x-id': '{{path_params.id}}' }, remove: ['user-agent'] } },
  },
  {
    label: 'request-transformer, JSON of 1 KiB',
    folder: builtinPluginFolder('request-transformer'),
    config: { body: { set: { '/ip': '{{request.client_ip}}' }, remove: ['/secret'] } },
    body: JSON.stringify({ secret: 1, note: 'x'.repeat(1000) }),
  },
  {
    label: 'response-transformer, 3 headers',
    folder: builtinPluginFolder('response-transformer'),
    config: { headers: { set: { 'x-a': '1', 'x-path': '{{request.path}}' }, remove: ['x-powered-by'] } },
    hook: 'on_response',
  },
  {
    label: 'response-transformer, JSON of 1 KiB',
    folder: builtinPluginFolder('response-transformer'),
    config: { body: { remove: ['/secret'] } },
    hook: 'on_response',
    body: JSON.stringify({ secret: 1, note: 'x'.repeat(1000) }),
  },
  { label: 'mock, constant body', folder: builtinPluginFolder('mock'), config: { body: '{"ok":true}' } },
  { label: 'redirect, one parameter', folder: builtinPluginFolder('redirect'), config: { target: '/new/{id}' } },
  {
    label: 'http-upstream, as sent',
    folder: builtinPluginFolder('http-upstream'),
    config: { url: 'https://upstream.example' },
  },
];
for (const each of calls) await measure(each);
await measureHit();
await measureGrowth();
runtime.close();
