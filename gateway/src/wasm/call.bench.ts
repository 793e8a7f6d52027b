/**
 * What a call into a plugin costs, in microseconds: `node gateway/src/wasm/call.bench.ts` after `npm run plugins`.
 * Each figure is the best of several rounds, with restoring the instance, entering it and the outcome included.
 */
import { join } from 'node:path';
import { readPluginFolder } from '../../sdk/testing/plugin-folder.ts';
import { recordedExchange } from '../../sdk/testing/recorder.ts';
import type { JsonObject } from '../artifact/format.ts';
import type { Exchange } from '../exchange.ts';
import { MemoryState } from '../state/memory-state.ts';
import { standaloneOutside } from '../tokens/standalone.ts';
import { createPluginRuntime } from './index.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const ROUNDS = 7;
const CALLS = 30_000;

const runtime = createPluginRuntime({
  state: new MemoryState(),
  ...standaloneOutside(),
  openUpstream: (url) => ({ name: url }),
  log: (level, plugin, message) => process.stderr.write(`${level} ${plugin}: ${message}\n`),
  observe: () => () => {},
});

const headers = {
  host: 'api.example.com',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  accept: 'application/json',
  'accept-encoding': 'gzip, br',
  'x-request-id': '0f8fad5b-d9cb-469f-a165-70867728950e',
  'x-api-key': 'k-4711',
  origin: 'https://app.example.com',
};

async function measure(label: string, folder: string, config: JsonObject): Promise<void> {
  const { plugin, wasm, complete } = await readPluginFolder(join(root, folder));
  const bound = await (await runtime.load(plugin, wasm)).bind(complete(config));
  const call = bound.hasRequestHook ? (x: Exchange) => bound.onRequest(x) : (x: Exchange) => bound.dispatch(x);
  const x = recordedExchange({ path: '/books/7?limit=3', headers });
  const sent = [...x.headers];
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    for (let i = 0; i < CALLS; i++) {
      await call(x);
      x.staged = null;
      x.answer = null;
      x.context = null;
      if (x.headers.length !== sent.length) x.headers = [...sent];
    }
    best = Math.min(best, ((performance.now() - started) * 1000) / CALLS);
  }
  process.stdout.write(`${label.padEnd(28)} ${best.toFixed(2)} µs\n`);
}

await measure('empty hook', 'test/fixtures/plugins/empty', {});
await measure('two header reads', 'test/fixtures/plugins/two-headers', {});
await measure('rate-limit take', 'gateway/plugins/rate-limit', { quota: 1_000_000_000, window: 60 });
await measure('apikey-auth, known key', 'gateway/plugins/apikey-auth', {
  keys: [{ key: 'k-4711', id: 'alice', name: 'Alice', scopes: ['read', 'write'] }],
});
await measure('apikey-auth, unknown key', 'gateway/plugins/apikey-auth', { keys: [{ key: 'other', id: 'bob' }] });
await measure('cors, allowed origin', 'gateway/plugins/cors', { allowed_origins: ['https://app.example.com'] });
await measure('mock, constant body', 'gateway/plugins/mock', { body: '{"ok":true}' });
await measure('http-upstream, as sent', 'gateway/plugins/http-upstream', { url: 'https://upstream.example' });
runtime.close();
