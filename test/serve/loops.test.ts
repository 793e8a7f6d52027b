/** A plugin or an upstream that leads back to its own gateway: it goes round ten times, and no more. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { fixture } from './fixture-plugin.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { Scrape } from './scrape.ts';

let gw: Gateway;
beforeAll(async () => {
  const port = await freePort();
  const leading = (name: string, path: string) => ({
    get: { responses: {}, 'x-gw-dispatch': { name, config: { url: `http://127.0.0.1:${port}${path}` } } },
  });
  const paths = {
    '/calls': leading('caller', '/calls'),
    '/proxies': leading('http-upstream', ''),
    // One leads to the other, and that back.
    '/there': leading('caller', '/back'),
    '/back': leading('caller', '/there'),
    '/fine': { get: { responses: {}, 'x-gw-dispatch': { name: 'mock', config: { body: 'fine' } } } },
  };
  const artifact = await compileSpec(
    { openapi: '3.1.0', info: { title: 'Loops', version: '1' }, paths },
    ['mock', 'http-upstream'],
    [fixture('caller')],
  );
  gw = await startGateway(artifact, { args: ['--listen', `127.0.0.1:${port}`] });
});
afterAll(() => gw?.stop());

it.each(['/calls', '/proxies', '/there'])('%s ends with 508, and others are answered', async (path) => {
  const asked = async () =>
    new Scrape(await (await fetch(`${gw.admin}/metrics`)).text()).samples
      .filter(({ name }) => name === 'gw_requests_total')
      .reduce((sum, { value }) => sum + value, 0);
  const before = await asked();
  const [answer, fine] = await Promise.all([fetch(gw.url + path), fetch(`${gw.url}/fine`)]);
  expect([answer.status, await fine.text()]).toEqual([508, 'fine']);
  // The first, ten that it led to, the one that is refused, and the one beside it.
  expect((await asked()) - before).toBe(13);
});

it('what a client says harms itself alone', async () => {
  const status = async (hops: string) => (await fetch(`${gw.url}/fine`, { headers: { 'gw-hops': hops } })).status;
  expect(await Promise.all(['0', '10', '11', '9999', '-1', 'x', ''].map(status))).toEqual([
    200, 200, 508, 508, 200, 200, 200,
  ]);
});
