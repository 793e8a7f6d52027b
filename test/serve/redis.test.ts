/** `gw serve --state redis://…`: several gateways count as one, also while the server comes and goes. */
import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { Gate } from './gate.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const { REDIS_URL } = process.env;
const QUOTA = 50;
/** Seconds; 200 requests must be sent within it, on a slow machine too. */
const WINDOW = 2;

const limited = (config: object) => ({
  get: {
    responses: { 200: { description: 'OK' } },
    'x-gw-middlewares': [{ name: 'rate-limit', config }],
    'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } },
  },
});

/** Policies that no other run of this test counts with. */
function artifact(): Promise<Uint8Array> {
  const run = crypto.randomUUID();
  const policy = (name: string) => `${name}.${run}`;
  return compileSpec(
    {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      paths: {
        '/second': limited({ quota: QUOTA, window: WINDOW, policy_name: policy('second'), partition_key: 'all' }),
        '/hour': limited({
          ...{ quota: 1_000_000, window: 3600, policy_name: policy('hour') },
          on_state_failure: 'allow',
        }),
        '/local': limited({ quota: 3, window: 3600, policy_name: policy('local') }),
        '/needed': limited({
          ...{ quota: 1_000_000, window: 3600, policy_name: policy('needed') },
          on_state_failure: 'deny',
        }),
      },
    },
    ['mock', 'rate-limit'],
  );
}

function request(url: string, agent: Agent): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    }).on('error', reject);
  });
}

describe.skipIf(REDIS_URL === undefined)('gw serve --state (needs REDIS_URL)', () => {
  const gateways: Gateway[] = [];
  const agent = new Agent({ keepAlive: true });
  let gate: Gate | null = null;
  async function start(bytes: Uint8Array, ...args: string[]): Promise<Gateway> {
    const gw = await startGateway(bytes, { args });
    gateways.push(gw);
    return gw;
  }
  afterEach(async () => {
    await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
    await gate?.close();
    gate = null;
  });

  it('admits exactly the quota over 6 windows: 200 clients, two gateways of four workers each', async () => {
    const bytes = await artifact();
    const args = ['--state', REDIS_URL as string, '--state-timeout-ms', '10000', '--workers', '4'];
    const pair = await Promise.all([start(bytes, ...args), start(bytes, ...args)]);
    const urls = pair.map(({ url }) => `${url}/second`);
    for (let window = 0; window < 6; window++) {
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => request(urls[i % 2] as string, agent)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(QUOTA);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(200 - QUOTA);
      await new Promise((resolve) => setTimeout(resolve, WINDOW * 1_000 + 50));
    }
  });

  it('goes on without the server as each policy says, within the time-out, and counts again when it is back', async () => {
    gate = new Gate(REDIS_URL as string, 6379);
    await gate.open();
    // With a shorter one the connection's own time-out would pass between two questions to a server that is away.
    const gw = await start(await artifact(), '--state', gate.url, '--state-timeout-ms', '1000');
    const statuses = { hour: new Set<number>(), needed: new Set<number>() };
    let slowest = 0;
    let stop = false;
    const load = (['hour', 'needed'] as const).flatMap((path) =>
      Array.from({ length: 4 }, async () => {
        while (!stop) {
          const from = performance.now();
          statuses[path].add((await request(`${gw.url}/${path}`, agent)).status);
          slowest = Math.max(slowest, performance.now() - from);
        }
      }),
    );
    const remaining = async () => Number((await request(`${gw.url}/hour`, agent)).headers['x-ratelimit-remaining']);
    const count = (start: string) => gw.log.filter(({ msg }) => msg.startsWith(start)).length;
    /** Does what is heard of by one more line in the log; a machine that stands still may have caused some before. */
    const heard = async (start: string, act: () => unknown) => {
      const before = count(start);
      await act();
      await expect.poll(() => count(start)).toBeGreaterThan(before);
    };
    await expect.poll(remaining).toBeGreaterThan(0);
    expect(statuses.hour).toEqual(new Set([200]));
    expect(statuses.needed).toContain(200);

    await heard('the state server is unavailable', () => gate?.close());
    await expect.poll(() => statuses.needed).toContain(503);
    expect(await remaining()).toBeNaN();
    const local = [];
    for (let i = 0; i < 4; i++) local.push((await request(`${gw.url}/local`, agent)).status);
    expect(local).toEqual([200, 200, 200, 429]);
    await heard('the state server is available again', () => gate?.open());
    await expect.poll(remaining).toBeGreaterThan(0);

    const silence = (silent: boolean) => {
      if (gate) gate.silent = silent;
    };
    await heard('the state server is unavailable', () => silence(true));
    expect(await remaining()).toBeNaN();
    await heard('the state server is available again', () => silence(false));
    await expect.poll(remaining).toBeGreaterThan(0);

    stop = true;
    await Promise.all(load);
    expect(statuses.hour).toEqual(new Set([200]));
    expect(statuses.needed).toEqual(new Set([200, 503]));
    process.stdout.write(`slowest answer while the state server came and went: ${slowest.toFixed(0)} ms\n`);
    await expect.poll(async () => (await request(`${gw.url}/needed`, agent)).status).toBe(200);
  });

  it('starts without the server, and names no credentials in its log', async () => {
    const gw = await start(await artifact(), '--state', 'redis://user:s3cret-word@127.0.0.1:1');
    const away = await gw.logged(({ msg }) => msg.startsWith('the state server is unavailable'));
    expect(away['reason']).toBe('ECONNREFUSED');
    expect((await request(`${gw.url}/hour`, agent)).status).toBe(200);
    const needed = await request(`${gw.url}/needed`, agent);
    expect(needed).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(needed.body)).toMatchObject({ type: 'urn:gw:error:state-unavailable' });
    expect(JSON.stringify(gw.log)).not.toContain('s3cret-word');
  });
});
