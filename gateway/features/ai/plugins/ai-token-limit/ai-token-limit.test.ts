import { MemoryState, type PluginKit, type State, StateUnavailable, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let kit: PluginKit;
const clock = { ms: 1_700_000_000_000 };
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname, { now: () => clock.ms });
});
beforeEach(() => {
  clock.ms += 86_400_000;
});
afterAll(() => kit.close());

const config = {
  default_profile: 'free',
  profiles: {
    free: { quota: 100, window: 60, reserve: 30 },
    paid: { quota: 10_000, window: 3600 },
    prompts: { quota: 100, window: 60, counts: 'prompt' },
    completions: { quota: 100, window: 60, counts: 'completion' },
  },
};

/** Four tokens for each message, and one for four bytes of its members' names and texts. */
const PROMPT = 18;
const asked = (more: object = {}) => ({
  model: 'm',
  messages: [
    { role: 'user', content: 'tell' },
    { role: 'user', content: 'more' },
  ],
  ...more,
});
const ask = (body: object = asked(), more: object = {}) =>
  kit.onRequest({ config, method: 'POST', body: JSON.stringify(body), ...more });
const remaining = async (...args: Parameters<typeof ask>) => {
  const { staged } = await ask(...args);
  return Number(staged['x-ratelimit-remaining']);
};

describe('ai-token-limit', () => {
  it('reserves what a request may take, and announces what is left', async () => {
    const { outcome, staged } = await ask(asked({ max_tokens: 10 }));
    expect(outcome).toBe('continue');
    expect(staged).toEqual({
      'x-ratelimit-policy': '"default";q=100;w=60',
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': String(100 - 10 - PROMPT),
      'x-ratelimit-reset': String(Math.ceil(clock.ms / 1000 + 60 + 60 / 1024)),
    });
  });

  it('answers 429 past the quota, in the form of the surfaces, with the IETF headers', async () => {
    await ask(asked({ max_tokens: 50 }));
    const { outcome, answer, problem } = await ask(asked({ max_tokens: 50 }));
    expect([outcome, answer?.status]).toEqual(['answered', 429]);
    expect(answer?.headers).toEqual({
      'content-type': 'application/problem+json',
      'ratelimit-policy': '"default";q=100;w=60',
      ratelimit: '"default";r=0;t=1',
      'retry-after': '1',
    });
    expect(problem).toMatchObject({
      type: 'urn:gw:error:rate-limited',
      code: 'token_limit_exceeded',
      error: { type: 'rate_limit_error', code: 'token_limit_exceeded' },
    });
  });

  it.each<[string, object, number]>([
    ['max_completion_tokens', asked({ max_completion_tokens: 7 }), PROMPT + 7],
    ['no limit', asked(), PROMPT + 30],
    ['several choices', asked({ n: 3, max_tokens: 7 }), PROMPT + 21],
    ['more than all', asked({ max_tokens: 9e15 }), 100],
  ])('reserves for %s', async (_, body, reserved) => {
    expect(await remaining(body)).toBe(100 - reserved);
  });

  it('reserves for max_output_tokens of a response, and not of a completion, which has no such limit', async () => {
    const body = { input: 'tell more', max_output_tokens: 7 };
    expect(await remaining(body, { path: '/v1/responses' })).toBe(100 - 3 - 7);
    expect(await remaining(asked({ max_output_tokens: 7 }), { path: '/v1/chat/completions' })).toBe(
      100 - 3 - 7 - PROMPT - 30,
    );
  });

  it.each([{ n: -1 }, { max_tokens: 'many' }])('refuses a limit that is none: %j', async (odd) => {
    const { outcome, answer } = await ask(asked(odd));
    expect([outcome, answer?.status]).toEqual(['answered', 400]);
  });

  it('reserves nothing for a batch, whose prompts are elsewhere, and refuses it', async () => {
    const { outcome, answer } = await ask({ input_file_id: 'file-1' }, { path: '/v1/batches' });
    expect([outcome, answer?.status, answer?.headers['x-ratelimit-remaining']]).toEqual(['answered', 400, undefined]);
    expect(JSON.stringify(answer)).toContain('batches_not_supported');
  });

  it('reserves no completion for embeddings', async () => {
    expect(await remaining({ model: 'm', input: 'tell more' }, { path: '/v1/embeddings' })).toBe(100 - 3);
    // Texts that are tokens already.
    expect(await remaining({ model: 'm', input: [1, 2, 3, 4] }, { path: '/v1/embeddings' })).toBe(100 - 3 - 4);
  });

  it('takes a picture for a thousand tokens, whatever its size', async () => {
    const url = `data:image/png;base64,${'x'.repeat(90_000)}`;
    const body = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }], max_tokens: 1 };
    const left = 10_000 - (await remaining(body, { context: { 'ai.policy': 'paid' } }));
    expect(left).toBeGreaterThan(1_000);
    expect(left).toBeLessThan(1_030);
  });

  it('counts the tokens that the profile says', async () => {
    const body = asked({ max_tokens: 20 });
    expect(await remaining(body, { context: { 'ai.policy': 'prompts' } })).toBe(100 - PROMPT);
    expect(await remaining(body, { context: { 'ai.policy': 'completions' } })).toBe(100 - 20);
    expect(await remaining(body, { context: { 'ai.policy': 'paid' } })).toBe(10_000 - PROMPT - 20);
  });

  it('gives each partition a quota of its own', async () => {
    const body = asked({ max_tokens: 82 });
    const outcomes = async (partition_key: string, requests: readonly object[]) => {
      const all = [];
      for (const each of requests) {
        const policy_name = partition_key.replaceAll(/[^a-z]/g, '.');
        all.push((await ask(body, { config: { ...config, partition_key, policy_name }, ...each })).outcome);
      }
      return all;
    };
    const twice = ['continue', 'continue', 'answered'];
    const key = (value: string) => ({ headers: { 'x-key': value } });
    expect(
      await outcomes(
        'client_ip',
        ['1', '2', '1'].map((n) => ({ clientIp: `192.0.2.${n}` })),
      ),
    ).toEqual(twice);
    expect(await outcomes('header:X-Key', [key('a'), key('b'.repeat(9_000)), key('b'.repeat(9_000))])).toEqual(twice);
    expect(await outcomes('header:X-Key', [{}, {}])).toEqual(['continue', 'answered']);
    const consumer = (value: string) => ({ context: { 'auth.consumer': value } });
    expect(await outcomes('context:auth.consumer', ['a', 'b', 'b'].map(consumer))).toEqual(twice);
    expect(await outcomes('all', [{ clientIp: '192.0.2.1' }, { clientIp: '192.0.2.2' }])).toEqual([
      'continue',
      'answered',
    ]);
  });

  it('counts as spent what a process has reserved that is gone, once its window has begun', async () => {
    await ask(asked({ max_tokens: 82 }));
    clock.ms += 61_000;
    const { outcome, answer } = await ask();
    expect([outcome, answer?.headers['retry-after']]).toEqual(['answered', '60']);
    clock.ms += 61_000;
    expect((await ask()).outcome).toBe('continue');
  });

  it('passes or refuses as it is told while shared counters are away', async () => {
    const away: State = {
      ...new MemoryState(),
      budgets: {
        reserve: () => Promise.reject(new StateUnavailable('away')),
        settle: () => Promise.reject(new StateUnavailable('away')),
        renew: () => Promise.reject(new StateUnavailable('away')),
      },
      close: async () => {},
    };
    const other = await testPlugin(import.meta.dirname, { state: away });
    const request = { method: 'POST', body: JSON.stringify(asked()) };
    expect(await other.onRequest({ config, ...request })).toMatchObject({ outcome: 'continue', staged: {} });
    const denied = await other.onRequest({ config: { ...config, on_state_failure: 'deny' }, ...request });
    expect(denied.answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(denied.problem).toMatchObject({ type: 'urn:gw:error:state-unavailable' });
    other.close();
  });

  it('passes what has no body, and refuses what is no JSON object', async () => {
    expect(await kit.onRequest({ config })).toMatchObject({ outcome: 'continue', staged: {} });
    const { problem } = await kit.onRequest({ config, method: 'POST', body: '[]' });
    expect(problem?.['code']).toBe('invalid_request');
  });

  it('takes only a config that it can keep', async () => {
    await expect(kit.bind({ ...config, default_profile: 'none' })).rejects.toThrow('default_profile');
    await expect(kit.bind({ ...config, partition_key: 'header:' })).rejects.toThrow('partition_key');
    for (const wrong of [
      {},
      { ...config, profiles: { free: { quota: 0, window: 1 } } },
      { ...config, profiles: { free: { quota: 1 } } },
      { ...config, policy_name: '"' },
    ]) {
      await expect(kit.bind(wrong), JSON.stringify(wrong)).rejects.toThrow('schema');
    }
  });
});
