import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordedExchange } from '../../../../sdk/testing/recorder.ts';
import { openKit, type RuntimeKit } from '../../../../sdk/testing/runtime-kit.ts';

let kit: RuntimeKit;
beforeAll(async () => {
  kit = await openKit(import.meta.dirname);
});
afterAll(() => kit.close());

/** One request through both hooks, to an upstream that answers with a new body each time; the body that it gets. */
async function visit(config: { readonly [name: string]: boolean | number }, path: string, consumer?: string) {
  const bound = await kit.bind(config);
  const headers = consumer === undefined ? {} : { 'x-auth-consumer': consumer };
  const exchange = recordedExchange({ path, headers });
  if ((await bound.onRequest(exchange)) === 0) {
    exchange.response.status = 200;
    exchange.response.body = crypto.randomUUID();
    await bound.onResponse(exchange);
  }
  bound.close();
  await new Promise((resolve) => setImmediate(resolve));
  return exchange.answer !== null && 'body' in exchange.answer
    ? Buffer.from(exchange.answer.body ?? '').toString()
    : String(exchange.response.body);
}

describe('cache', () => {
  it('stores what it passes on, and answers with it', async () => {
    const body = await visit({ default_ttl: 60 }, '/a');
    expect(await visit({ default_ttl: 60 }, '/a')).toBe(body);
    expect(await visit({ default_ttl: 60 }, '/b')).not.toBe(body);
  });

  it('stores nothing that says nothing, by default', async () => {
    expect(await visit({}, '/c')).not.toBe(await visit({}, '/c'));
  });

  it('has nothing in common with another config', async () => {
    const body = await visit({ default_ttl: 60 }, '/d');
    expect(await visit({ default_ttl: 61 }, '/d')).not.toBe(body);
  });

  it('keeps what consumers get to themselves', async () => {
    const config = { default_ttl: 60, per_consumer: true };
    const [ann, nobody] = [await visit(config, '/e', 'ann'), await visit(config, '/e')];
    expect(await visit(config, '/e', 'ann')).toBe(ann);
    expect(await visit(config, '/e', 'bob')).not.toBe(ann);
    expect(await visit(config, '/e')).toBe(nobody);
    expect(nobody).not.toBe(ann);
  });

  it.each([
    [{ methods: ['POST'] }],
    [{ statuses: [206] }],
    [{ statuses: [304] }],
    [{ vary: ['a b'] }],
    [{ max_ttl: 0 }],
    [{ default_ttl: -1 }],
    [{ lock_timeout: 61 }],
    [{ ttl: 1 }],
  ])('refuses %j', async (config) => {
    await expect(kit.bind(config)).rejects.toThrow('the config');
  });
});
