/** One client that makes up buckets, beside the limits of others (docs/decisions.md#shared-limits). */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { askFrom, startFlood } from '../../../../test/serve/flood.ts';
import { compileSpec, withGateway } from '../../../../test/serve/gateway.ts';

it('invented header values make no limit new, and get no further buckets', async () => {
  const operation = (config: object) => ({
    get: {
      responses: { 200: { description: 'OK' } },
      'x-gw-middlewares': [{ name: 'rate-limit', config: { quota: 1, window: 3_600, ...config } }],
      'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } },
    },
  });
  const artifact = await compileSpec(
    {
      openapi: '3.1.0',
      info: { title: 'Limits', version: '1' },
      paths: {
        '/login': operation({ policy_name: 'login', partition_key: 'header:x-user' }),
        '/open': operation({ policy_name: 'open', partition_key: 'header:x-any' }),
      },
    },
    ['rate-limit', 'mock'],
  );
  await withGateway(artifact, [], async (gw) => {
    const login = async (user: string) => (await askFrom('127.0.0.1', `${gw.url}/login`, { 'x-user': user })).status;
    expect([await login('alice'), await login('alice')]).toEqual([200, 429]);
    const headers = () => ({ ':path': '/open', 'x-any': randomUUID() });
    const flood = startFlood({ url: gw.url, from: '127.0.0.9', inFlight: 200, headers });
    await eventually(() => (flood.answers.get(429) ?? 0) > 100);
    flood.stop();
    expect(flood.answers.get(200)).toBeGreaterThan(90_000);
    expect([await login('alice'), await login('bob'), await login('bob')]).toEqual([429, 200, 429]);
  });
});
