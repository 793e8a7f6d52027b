/**
 * What takes long to validate is validated in a process of its own, which is ended past its deadline: others go on, and
 * clients take turns (docs/decisions.md#validation-in-helpers).
 */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';
import { scrape } from './scrape.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const json = (schema: object) => ({ 'application/json': { schema } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
/** So many that no machine prepares a union of them in ten seconds. */
const BRANCHES = 9_000;

const expression = (op: string) => ({
  type: 'object',
  required: ['op', 'left'],
  properties: { left: ref('Expression'), op: { allOf: [{ const: op }] } },
});
const schemas = {
  Tree: {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'integer' }, children: { type: 'array', uniqueItems: true, items: ref('Tree') } },
  },
  Expression: { oneOf: [ref('And'), ref('Or'), { type: 'string' }] },
  Wide: { oneOf: Array.from({ length: BRANCHES }, (_, i) => ref(`Branch${i}`)), discriminator: { propertyName: 't' } },
  ...Object.fromEntries(
    Array.from({ length: BRANCHES }, (_, i) => [
      `Branch${i}`,
      { type: 'object', required: ['t'], properties: { t: { type: 'string' }, next: ref('Wide') } },
    ]),
  ),
  And: expression('and'),
  Or: expression('or'),
};

function document(upstream: string) {
  const mock = { name: 'mock', config: { body: 'ok' } };
  const post = (schema: object, more: object = {}) => ({
    post: { requestBody: { required: true, content: json(schema) }, responses: {}, 'x-gw-dispatch': mock, ...more },
  });
  const checked = (mode: string) => ({
    get: {
      responses: { 200: { description: 'OK', content: json(ref('Expression')) } },
      'x-gw-validate-response': mode,
      'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
    },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Helpers', version: '1' },
    components: { schemas, securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } } },
    paths: {
      '/fast': { get: { responses: {}, 'x-gw-dispatch': mock } },
      '/tree': post(ref('Tree')),
      '/wide': post(ref('Wide')),
      '/expression': post(ref('Expression')),
      '/secured': post(ref('Tree'), {
        security: [{ key: [] }],
        'x-gw-middlewares': [
          {
            name: 'apikey-auth',
            config: { header_name: 'x-key', keys: [{ key: 'k1', id: 'a', name: 'A' }] },
          },
        ],
      }),
      '/search': {
        get: {
          parameters: [{ name: 'q', in: 'query', schema: { type: 'string', pattern: '^[ab]*a[ab]{900}c$' } }],
          responses: {},
          'x-gw-dispatch': mock,
        },
      },
      '/enforce': checked('enforce'),
      '/log': checked('log'),
    },
  };
}

/** Two branches are tried at each level: no process ever comes to its end. */
const endless = `${'{"left":'.repeat(80)}"1"${',"op":"or"}'.repeat(80)}`;
/** CPU time of a validation in milliseconds: several times what `long` takes in a process that has just started. */
const DEADLINE = '300';
/** Valid, and longer than what is read on the event loop. */
const long = JSON.stringify({ id: 0, children: Array.from({ length: 15_000 }, (_, id) => ({ id })) });

/** From an address of its own, so that it is another client. */
function post(gw: Gateway, path: string, body: string, from = '127.0.0.1', headers: object = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(gw.url);
    const sent = request(
      {
        host: hostname,
        port,
        path,
        method: 'POST',
        localAddress: from,
        headers: { 'content-type': 'application/json', ...headers },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('a gateway', () => {
  let upstream: Upstream;
  let gw: Gateway;
  const verdicts = async (verdict: string) =>
    (await scrape(gw.admin)).value('gw_validation_helper_total', { verdict }) ?? 0;

  beforeAll(async () => {
    upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(endless);
    });
    const artifact = await compileSpec(document(upstream.url), ['mock', 'http-upstream', 'apikey-auth']);
    gw = await startGateway(artifact, {
      args: ['--max-pattern-steps', '1000000000', '--validation-deadline', DEADLINE],
    });
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  it('validates a long body in a helper, and what is short without one', async () => {
    expect(await post(gw, '/tree', '{"id":1,"children":[{"id":2}]}')).toBe(200);
    expect(await verdicts('valid')).toBe(0);
    expect(await post(gw, '/tree', long)).toBe(200);
    expect(await post(gw, '/tree', long.replace('{"id":7}', '{"id":6}'))).toBe(400);
    expect(await verdicts('valid')).toBe(1);
    expect(await verdicts('invalid')).toBe(1);
  });

  it('ends a validation past its deadline with 400, and answers others meanwhile and after it', async () => {
    const attack = post(gw, '/expression', endless);
    const others = await Promise.all(Array.from({ length: 20 }, () => fetch(`${gw.url}/fast`)));
    expect(others.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await attack).toBe(400);
    expect(await verdicts('deadline')).toBe(1);
    expect(await post(gw, '/tree', long)).toBe(200);
    const refused = await fetch(`${gw.url}/expression`, {
      method: 'POST',
      body: endless,
      headers: { 'content-type': 'application/json' },
    });
    expect((await jsonOf(refused))['detail']).toContain('takes longer to validate');
  });

  it('matches a long query against an expensive pattern in a helper', async () => {
    const before = await verdicts('invalid');
    const response = await fetch(`${gw.url}/search?q=${'ab'.repeat(3500)}c`);
    expect(response.status).toBe(400);
    expect((await verdicts('invalid')) + (await verdicts('deadline'))).toBeGreaterThan(before);
    expect((await fetch(`${gw.url}/search?q=${'ab'.repeat(10)}`)).status).toBe(400);
  });

  it('withholds a response that takes too long under enforce, and passes it under log', async () => {
    expect((await fetch(`${gw.url}/enforce`)).status).toBe(502);
    const passed = await fetch(`${gw.url}/log`);
    expect(passed.status).toBe(200);
    expect(await passed.text()).toBe(endless);
  });

  it('gives each client its turn, and refuses those who have most waiting', async () => {
    const attacks = Array.from({ length: 100 }, () => post(gw, '/expression', endless, '127.0.0.8'));
    const first = await Promise.race([
      Promise.all(attacks).then(() => 'attacker'),
      post(gw, '/tree', long, '127.0.0.9').then((status) => `other ${status}`),
    ]);
    expect(first).toBe('other 200');
    const statuses = await Promise.all(attacks);
    expect(new Set(statuses)).toEqual(new Set([400, 503]));
    expect(await verdicts('overloaded')).toBe(statuses.filter((status) => status === 503).length);
  });

  it('keeps half of its helpers for requests that have passed authentication', async () => {
    const attacks = Array.from({ length: 20 }, (_, i) => post(gw, '/expression', endless, `127.0.0.${20 + i}`));
    const first = await Promise.race([
      Promise.race(attacks.slice(4)).then(() => 'attacker'),
      post(gw, '/secured', long, '127.0.0.9', { 'x-key': 'k1' }).then((status) => `other ${status}`),
    ]);
    expect(first).toBe('other 200');
    await Promise.all(attacks);
  });

  it('prepares a schema that takes long beside all others, and tells of one that takes too long', async () => {
    // Anything heavy waits for it, and nothing else does.
    const first = post(gw, '/wide', '{"t":"Branch1"}', '127.0.0.2');
    const waits = post(gw, '/wide', '{"t":"Branch1"}', '127.0.0.3');
    expect(await Promise.all([1, 2, 3, 4].map(() => post(gw, '/tree', long)))).toEqual([200, 200, 200, 200]);
    expect(await Promise.all([first, waits])).toEqual([500, 500]);
    expect(await post(gw, '/wide', '{"t":"Branch1"}')).toBe(500);
    const told = () => gw.log.filter(({ msg }) => String(msg).includes('takes more than 10 s to prepare'));
    await eventually(() => expect(told()).toHaveLength(1));
    expect(await verdicts('unprepared')).toBe(3);
  });

  it('leaves no helper behind', async () => {
    const other = await startGateway(
      await compileSpec(document(upstream.url), ['mock', 'http-upstream', 'apikey-auth']),
    );
    await post(other, '/tree', long);
    const { execFileSync } = await import('node:child_process');
    const helpers = () => {
      try {
        return execFileSync('pgrep', ['-P', String(other.pid), '-f', 'validation-worker'], { encoding: 'utf8' })
          .split('\n')
          .filter(Boolean);
      } catch {
        return [];
      }
    };
    const started = helpers();
    expect(started.length).toBeGreaterThan(0);
    await other.stop();
    await eventually(() => expect(started.filter(isAlive)).toEqual([]));
  });
});

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}
