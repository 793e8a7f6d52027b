/** Who ended a request, as operators of `gw serve` find it in the access log and in the metrics. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectPlugin } from '../../gateway/src/compiler/index.ts';
import { DISPATCHER_WASM } from '../fixtures/specs/plugins.ts';
import { compileSpec, type Gateway, withGateway } from './gateway.ts';
import { scrape } from './scrape.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Its dispatch neither answers nor hands off. */
const broken: ProjectPlugin = {
  name: 'broken',
  wasm: DISPATCHER_WASM,
  manifest: {
    ...{ name: 'broken', version: '1.0.0', type: 'dispatcher', host_functions: [] },
    ...{ request_body: 'none', response_body: 'none' },
  },
  configSchema: { type: 'object' },
  config: {},
};

function document(url: string) {
  const operation = (dispatch: object, ...middlewares: object[]) => ({
    get: { responses: {}, 'x-gw-middlewares': middlewares, 'x-gw-dispatch': dispatch },
  });
  const proxied = { name: 'http-upstream', config: { url } };
  return {
    openapi: '3.1.0',
    info: { title: 'Decisions', version: '1' },
    paths: {
      '/limited': operation(proxied, { name: 'rate-limit', config: { quota: 1, window: 3600 } }),
      '/cached': operation(proxied, { name: 'cache', config: { default_ttl: 3600 } }),
      '/broken': operation({ name: 'broken' }),
    },
  };
}

describe('what ended a request', () => {
  let upstream: Upstream;
  let artifact: Uint8Array;
  beforeAll(async () => {
    upstream = await startUpstream();
    artifact = await compileSpec(document(upstream.url), ['http-upstream', 'rate-limit', 'cache'], [broken]);
  });
  afterAll(async () => {
    await upstream?.close();
  });

  const serving = (args: readonly string[], work: (gw: Gateway) => Promise<void>) => withGateway(artifact, args, work);
  /** The line of a request in the access log. */
  async function lineOf(gw: Gateway, path: string, id: string) {
    await (await fetch(gw.url + path, { headers: { 'x-request-id': id } })).arrayBuffer();
    const { status, plugin, decision, cache } = await gw.logged(
      ({ msg, request_id }) => msg === 'request' && request_id === id,
    );
    return { status, plugin, decision, cache };
  }

  it('names the plugin that answered or failed, and says what a cache had', async () => {
    await serving([], async (gw) => {
      expect(await lineOf(gw, '/limited', 'allowed')).toEqual({ status: 200 });
      const limited = { status: 429, plugin: 'rate-limit', decision: 'answered' };
      expect(await lineOf(gw, '/limited', 'limited')).toEqual(limited);
      expect(await lineOf(gw, '/broken', 'broken')).toEqual({ status: 500, plugin: 'broken', decision: 'failed' });
      expect(await lineOf(gw, '/cached', 'miss')).toEqual({ status: 200, cache: 'uri-miss' });
      const hit = { status: 200, plugin: 'cache', decision: 'answered', cache: 'hit' };
      expect(await lineOf(gw, '/cached', 'hit')).toEqual(hit);

      const metrics = await scrape(gw.admin);
      const decided = (plugin: string, decision: string) =>
        metrics.value('gw_plugin_decisions_total', { plugin, decision });
      expect([decided('rate-limit', 'answered'), decided('broken', 'failed'), decided('cache', 'answered')]).toEqual([
        1, 1, 1,
      ]);
      expect(metrics.values('gw_plugin_decisions_total', 'plugin')).toEqual(['broken', 'cache', 'rate-limit']);
      const cached = (cache: string) => metrics.value('gw_cache_requests_total', { cache });
      expect([cached('uri-miss'), cached('hit')]).toEqual([1, 1]);
      expect(metrics.value('gw_plugin_instances')).toBeGreaterThan(0);
      expect([metrics.value('gw_plugin_instances_busy'), metrics.value('gw_plugin_queue')]).toEqual([0, 0]);
      expect(metrics.samples.some(({ name }) => name.startsWith('gw_state_'))).toBe(false);
    });
  });

  it('shows in the metrics while the state server is away', async () => {
    // Nobody listens there.
    await serving(['--state', 'redis://127.0.0.1:1'], async (gw) => {
      expect((await lineOf(gw, '/limited', 'unlimited')).status).toBe(200);
      const metrics = await scrape(gw.admin);
      expect(metrics.value('gw_state_away')).toBe(1);
      expect(metrics.value('gw_state_failures_total')).toBeGreaterThan(0);
    });
  });
});
