import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NAME = 'x-correlation-id';

/** The identifier of a request, which request, response and context must agree on. */
async function idOf(config: Record<string, string | number | boolean>, given?: string | string[]) {
  const result = await kit.onRequest({ config, headers: given === undefined ? {} : { [NAME]: given } });
  const id = result.context['correlation.id'];
  expect([result.outcome, result.requestHeaders, result.staged]).toEqual(['continue', { [NAME]: id }, { [NAME]: id }]);
  return id;
}

describe('correlation-id', () => {
  it('makes a random UUID where the client sends none, another each time', async () => {
    const ids = await Promise.all(Array.from({ length: 500 }, () => idOf({})));
    for (const id of ids) expect(id).toMatch(V4);
    expect(new Set(ids).size).toBe(500);
  });

  it('makes UUIDs that sort by time', async () => {
    const before = Date.now();
    const id = await idOf({ generator: 'uuid-v7' });
    expect(id).toMatch(V7);
    const ms = Number.parseInt(id?.replace('-', '').slice(0, 12) ?? '', 16);
    expect(ms).toBeGreaterThanOrEqual(before);
    expect(ms).toBeLessThanOrEqual(Date.now());
  });

  it.each(['abc', 'A-1.b_c~d:e/f+g=', '0f8fad5b-d9cb-469f-a165-70867728950e', 'x'.repeat(128)])(
    'keeps %s of a client',
    async (given) => {
      expect(await idOf({}, given)).toBe(given);
    },
  );

  it.each(['', 'a b', 'a,b', 'a\tb', '"x"', '<x>', 'é', 'a;b', 'x'.repeat(129), ['a', 'b']])(
    'replaces %j of a client',
    async (given) => {
      expect(await idOf({}, given)).toMatch(V4);
    },
  );

  it('keeps UUIDs alone, or nothing, where it is told to', async () => {
    const uuid = '0F8FAD5B-d9cb-169f-a165-70867728950e';
    expect(await idOf({ accept: 'uuid' }, uuid)).toBe(uuid);
    expect(await idOf({ accept: 'uuid' }, 'abc')).toMatch(V4);
    expect(await idOf({ accept: 'uuid' }, `${uuid.slice(0, 35)}g`)).toMatch(V4);
    expect(await idOf({ accept: 'none' }, uuid)).toMatch(V4);
    expect(await idOf({ max_length: 3 }, 'abcd')).toMatch(V4);
  });

  it('uses another header, and leaves the response alone without echo', async () => {
    const config = { header_name: 'X-Trace', echo: false };
    const result = await kit.onRequest({ config, headers: { 'x-trace': 'abc' } });
    expect([result.requestHeaders, result.staged]).toEqual([{ 'x-trace': 'abc' }, {}]);
  });

  it.each([
    { header_name: 'a b' },
    { header_name: 'Host' },
    { header_name: 'x-auth-consumer' },
    { header_name: 'X-Request-ID' },
    { generator: 'uuid' },
    { max_length: 0 },
    { max_length: 257 },
    { accept: true },
    { other: 1 },
  ])('refuses the config %j', async (bad) => {
    await expect(kit.bind(bad)).rejects.toThrow(/schema/);
  });
});
