import { MemoryState, type PluginKit, type State, StateUnavailable, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

type Config = Parameters<PluginKit['onRequest']>[0]['config'];

const CHAT = '/v1/chat/completions';
const asked = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
const ann = { 'x-auth-consumer': 'ann' };
const ask = (body: unknown = asked, more: object = {}, config: Config = {}) =>
  kit.onRequest({ config, method: 'POST', path: CHAT, headers: ann, body: JSON.stringify(body), ...more });

describe('ai-cache', () => {
  it('lets a request go on to which nothing is stored', async () => {
    expect((await ask()).outcome).toBe('continue');
  });

  it('has 504 for a client that wants stored answers only', async () => {
    const { outcome, problem } = await ask(asked, { headers: { ...ann, 'cache-control': 'only-if-cached' } });
    expect([outcome, problem?.status]).toEqual(['answered', 504]);
  });

  it('refuses a body that is none, in the form of the surfaces', async () => {
    const { answer, problem } = await ask(asked, { body: '[1]' });
    expect([answer?.status, problem]).toEqual([400, expect.objectContaining({ code: 'invalid_request' })]);
  });

  it('lets requests without a body pass', async () => {
    const { outcome } = await kit.onRequest({ config: {}, method: 'GET', path: '/v1/models' });
    expect(outcome).toBe('continue');
  });

  it.each([
    { share: 'nobody' },
    { ttl: 0 },
    { max_entry_bytes: 0 },
    { other: 1 },
    { semantic: {} },
    { semantic: { embedding: { model: 'm' }, threshold: 0.1 } },
  ])('rejects the config %j', async (config) => {
    await expect(ask(asked, {}, config)).rejects.toThrow();
  });
});

it('asks the provider where the state is away', async () => {
  const state: State = new MemoryState();
  const away = {
    get: () => Promise.reject(new StateUnavailable('gone')),
    set: () => Promise.reject(new StateUnavailable('gone')),
    delete: () => Promise.reject(new StateUnavailable('gone')),
  };
  const without = await testPlugin(import.meta.dirname, { state: Object.assign(state, { cache: away }) });
  const { outcome } = await without.onRequest({
    config: {},
    method: 'POST',
    path: CHAT,
    headers: ann,
    body: JSON.stringify(asked),
  });
  await without.close();
  expect(outcome).toBe('continue');
});
