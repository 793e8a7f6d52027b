/** A state server with little memory, and one client that would have all of it (docs/scaling.md#pods---state). */
import { Agent, request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { askFrom, startFlood } from './flood.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { NO_REDIS_SERVER, RedisServer } from './redis-server.ts';

const [FLOOD, CLIENT] = ['127.0.0.9', '127.0.0.1'];
const INITIALIZE = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'flood', version: '1' } },
});
const PING = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });

describe.skipIf(NO_REDIS_SERVER)('a state server of 16 MB (needs GW_REDIS_SERVER)', () => {
  let server: RedisServer | null = null;
  let gw: Gateway | null = null;
  const agent = new Agent({ keepAlive: true, maxSockets: 50, localAddress: FLOOD });
  afterEach(async () => {
    await gw?.stop();
    await server?.stop();
  });

  async function start(...settings: readonly string[]): Promise<{ gw: Gateway; server: RedisServer }> {
    const limited = (config: object) => ({
      get: {
        responses: { 200: { description: 'OK' } },
        'x-gw-middlewares': [{ name: 'rate-limit', config: { quota: 5, window: 3_600, ...config } }],
        'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } },
      },
    });
    const artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Small', version: '1' },
        'x-gw-mcp': { enabled: true },
        paths: {
          '/limited': limited({ policy_name: 'limited', partition_key: 'header:x-user' }),
          '/open': limited({ policy_name: 'open', partition_key: 'header:x-any' }),
        },
      },
      ['rate-limit', 'mock'],
    );
    server = await RedisServer.start('--maxmemory', '16mb', ...settings);
    gw = await startGateway(artifact, { args: ['--state', server.url, '--state-timeout-ms', '10000'] });
    return { gw, server };
  }

  function post(url: string, body: string, options: object = {}) {
    return new Promise<{ status: number; session: string }>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const asked = request(
        `${url}/__gw/mcp`,
        {
          method: 'POST',
          ...options,
          headers: { ...headers, ...('headers' in options ? Object(options.headers) : {}) },
        },
        (response) => {
          response
            .resume()
            .on('end', () =>
              resolve({ status: response.statusCode ?? 0, session: String(response.headers['mcp-session-id'] ?? '') }),
            );
        },
      );
      asked.on('error', reject).end(body);
    });
  }

  const limited = async (url: string, user: string) => {
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) statuses.push((await askFrom(CLIENT, `${url}/limited`, { 'x-user': user })).status);
    return statuses;
  };

  it('keeps sessions and limits of others, however many sessions one client opens', async () => {
    const {
      gw: { url },
      server: { redis },
    } = await start('--maxmemory-policy', 'noeviction');
    const mine = await post(url, INITIALIZE);
    expect(mine.status).toBe(200);
    expect(await limited(url, 'before')).toEqual([200, 200, 200, 200, 200, 429, 429]);
    const flood = Array.from({ length: 6_000 }, () => post(url, INITIALIZE, { agent }));
    expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([200]));
    const session = { headers: { 'mcp-session-id': mine.session } };
    expect((await post(url, PING, session)).status).toBe(200);
    expect(await limited(url, 'before')).toEqual(Array(7).fill(429));
    expect(await limited(url, 'after')).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(Number(await redis.get('gw:{sessions}:total'))).toBeLessThan(4_000);
  });

  it('gives one client no more buckets than its share, and makes no limit new', async () => {
    const {
      gw: { url },
      server: { redis },
    } = await start('--maxmemory-policy', 'noeviction');
    expect(await limited(url, 'before')).toEqual([200, 200, 200, 200, 200, 429, 429]);
    let made = 0;
    const headers = () => ({ ':path': '/open', 'x-any': `${made++}` });
    const flood = startFlood({ url, from: FLOOD, inFlight: 100, headers });
    await eventually(() => (flood.answers.get(429) ?? 0) > 100);
    flood.stop();
    expect(await limited(url, 'before')).toEqual(Array(7).fill(429));
    expect(await limited(url, 'after')).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(Number(await redis.get('gw:{limits}:total'))).toBeLessThan(10_000);
  });

  it('counts in the process while the server is full, and says so', async () => {
    const {
      gw,
      server: { redis },
    } = await start('--maxmemory-policy', 'noeviction');
    const block = 'x'.repeat(64_000);
    const fill = () =>
      redis.set(crypto.randomUUID(), block).then(
        () => true,
        () => false,
      );
    while (await fill());
    const crumb = () =>
      redis.set(crypto.randomUUID(), 'x').then(
        () => true,
        () => false,
      );
    while (await crumb());
    expect(await limited(gw.url, 'alice')).toEqual([200, 200, 200, 200, 200, 429, 429]);
    await gw.logged(({ msg }) => String(msg).includes('refuses commands (OOM)'));
    await redis.flushall();
    expect(await limited(gw.url, 'bob')).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(await redis.keys('gw:{limits}:*bob*')).not.toEqual([]);
  });

  it('is warned of if it drops what it must keep', async () => {
    const { gw } = await start('--maxmemory-policy', 'allkeys-lru');
    await gw.logged(({ msg }) => String(msg).includes('set its maxmemory-policy to noeviction'));
  });
});
