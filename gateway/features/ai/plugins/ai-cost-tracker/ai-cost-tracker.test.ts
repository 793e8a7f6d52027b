import { MemoryState, type PluginKit, type State, StateUnavailable, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

/** A dollar for each thousand tokens of a completion. */
const prices = {
  'provider_chat/gpt-*': { prompt: 0, completion: 1000 },
  'provider_*/dear': { prompt: 0, completion: 5000 },
  'provider_chat/dear': { prompt: 0, completion: 1000 },
};
const budget = (more: object = {}) => ({
  prices,
  policy_name: crypto.randomUUID(),
  default_profile: 'all',
  profiles: { all: { budgets: [{ limit_usd: 1, period: 'year', ...more }] } },
});
const ask = (config: object, body: object = { model: 'gpt-4o', max_tokens: 400 }, more: object = {}) =>
  kit.onRequest({ config: { ...config }, method: 'POST', body: JSON.stringify(body), ...more });

describe('ai-cost-tracker', () => {
  it('only counts where there are no budgets', async () => {
    expect((await ask({ prices })).outcome).toBe('continue');
    expect((await ask({ prices: {} }, { model: 'unknown' })).outcome).toBe('continue');
  });

  it('answers 429 past a budget, in the form of the surfaces', async () => {
    const config = budget();
    for (let i = 0; i < 2; i++) expect((await ask(config)).outcome).toBe('continue');
    const { outcome, answer, problem } = await ask(config);
    expect([outcome, answer?.status, answer?.headers['retry-after']]).toEqual(['answered', 429, '1']);
    expect(problem).toMatchObject({
      type: 'urn:gw:error:rate-limited',
      code: 'budget_exceeded',
      error: { type: 'rate_limit_error', code: 'budget_exceeded' },
    });
  });

  it('goes by the highest price of a model, since which provider answers is not known yet', async () => {
    const config = budget();
    expect((await ask(config, { model: 'dear', max_tokens: 150 })).outcome).toBe('continue');
    expect((await ask(config, { model: 'dear', max_tokens: 60 })).outcome).toBe('answered');
    expect((await ask(config, { model: 'dear', max_tokens: 50 })).outcome).toBe('continue');
  });

  it('has a budget for each consumer, or for whatever it is told', async () => {
    const config = budget();
    const by = (name: string) => ({ headers: { 'x-auth-consumer': name } });
    const body = { model: 'gpt-4o', max_tokens: 1000 };
    const outcomes = [];
    for (const name of ['ann', 'bob', 'ann']) outcomes.push((await ask(config, body, by(name))).outcome);
    expect(outcomes).toEqual(['continue', 'continue', 'answered']);
    const common = budget({ partition_key: 'all' });
    expect((await ask(common, body, by('ann'))).outcome).toBe('continue');
    expect((await ask(common, body, by('bob'))).outcome).toBe('answered');
  });

  it('needs a price for what must stay within a budget, unless it is told otherwise', async () => {
    const { answer, problem } = await ask(budget(), { model: 'unknown' });
    expect(answer?.status).toBe(403);
    expect(problem).toMatchObject({ code: 'model_not_priced', error: { param: 'model' } });
    expect((await ask({ ...budget(), on_unpriced: 'allow' }, { model: 'unknown' })).outcome).toBe('continue');
  });

  it('refuses while shared state is away, unless it is told otherwise', async () => {
    const gone = () => Promise.reject(new StateUnavailable('away'));
    const away: State = {
      ...new MemoryState(),
      budgets: { reserve: gone, settle: gone, renew: gone },
      close: async () => {},
    };
    const other = await testPlugin(import.meta.dirname, { state: away });
    const request = { method: 'POST', body: '{"model":"gpt-4o"}' };
    expect((await other.onRequest({ config: budget(), ...request })).answer?.status).toBe(503);
    const allowing = { ...budget(), on_state_failure: 'allow' };
    expect((await other.onRequest({ config: allowing, ...request })).outcome).toBe('continue');
    other.close();
  });

  it('takes only a config that it can keep', async () => {
    await expect(kit.bind({ ...budget(), default_profile: 'none' })).rejects.toThrow('default_profile');
    for (const wrong of [
      {},
      { prices: { 'gpt-4o': { prompt: 1, completion: 1 } } },
      { prices: { 'provider_chat/gpt-{4,5}': { prompt: 1, completion: 1 } } },
      { prices: { 'a/b': { prompt: -1, completion: 1 } } },
      { prices: { 'a/b': { prompt: 1 } } },
      { ...budget(), price_unit: 7 },
      { ...budget({ period: 'fortnight' }) },
      { ...budget({ limit_usd: 0 }) },
      { prices, profiles: budget().profiles },
    ]) {
      await expect(kit.bind(wrong), JSON.stringify(wrong)).rejects.toThrow('schema');
    }
  });
});
