import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const config = {
  default_profile: 'redacts',
  profiles: {
    redacts: { pii: { email: 'redact', card: 'mask' }, blocked_patterns: ['(?i:top secret)', '(x+x+)+\\1y'] },
    blocks: { pii: { email: 'block' } },
    hashes: { pii: { email: 'hash' } },
    open: {},
  },
  hash_key: 'a key of sixteen characters',
};

const JSON_TYPE = { 'content-type': 'application/json' };
const respond = (body: unknown, more: object = {}, headers: object = JSON_TYPE, status = 200) =>
  kit.onResponse({
    config,
    response: {
      status,
      headers: { ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    },
    ...more,
  });
const bodyOf = async (...args: Parameters<typeof respond>): Promise<unknown> =>
  JSON.parse((await respond(...args)).response.body);

const text = 'write to ann@example.com';
const redacted = 'write to [EMAIL]';
const args = JSON.stringify({ to: 'ann@example.com', card: 4111111111111111 });
const redactedArgs = '{"to":"[EMAIL]","card":"************1111"}';

describe('ai-response-guard', () => {
  it('asks for whole answers: a part could hold a part of what it looks for', async () => {
    const headers = { range: 'bytes=1-22', 'if-range': '"1"', accept: '*/*' };
    expect((await kit.onRequest({ config, headers })).requestHeaders).toEqual({ accept: '*/*' });
  });

  it('rewrites a chat completion, in all of its texts', async () => {
    const message = (content: unknown, called: string) => ({
      role: 'assistant',
      content,
      refusal: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: called } }],
    });
    const completion = (one: object, other: object, logprobs: object | null) => ({
      id: 'c',
      choices: [
        { index: 0, message: one, logprobs },
        { index: 1, message: other, logprobs: null },
      ],
      usage: { prompt_tokens: 1 },
    });
    const logprobs = { content: [{ token: 'ann@example.com' }] };
    const answer = completion(message(text, args), message([{ type: 'text', text }], '{}'), logprobs);
    expect(await bodyOf(answer)).toEqual(
      completion(message(redacted, redactedArgs), message([{ type: 'text', text: redacted }], '{}'), null),
    );
  });

  it('rewrites a response and a message', async () => {
    const response = (said: string, called: string) => ({
      object: 'response',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: said }] },
        { type: 'message', content: [{ type: 'output_text', text: said, annotations: [], logprobs: [] }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: called },
      ],
    });
    expect(await bodyOf(response(text, args))).toEqual(response(redacted, redactedArgs));
    const message = (said: string, input: object) => ({
      type: 'message',
      content: [
        { type: 'thinking', thinking: said, signature: 's' },
        { type: 'text', text: said },
        { type: 'tool_use', id: 't', name: 'f', input },
      ],
    });
    const input = { to: ['ann@example.com'], n: 1 };
    expect(await bodyOf(message(text, input))).toEqual(message(redacted, { to: ['[EMAIL]'], n: 1 }));
  });

  const completion = (content: string) => ({ choices: [{ index: 0, message: { role: 'assistant', content } }] });

  it('withholds what it blocks, with an answer that clients of the surfaces read', async () => {
    const { outcome, answer, problem, logs } = await respond(completion('This is Top Secret'));
    expect([outcome, answer?.status]).toEqual(['answered', 403]);
    expect(problem).toMatchObject({
      type: 'urn:gw:error:forbidden',
      code: 'response_blocked',
      error: { type: 'permission_error', code: 'response_blocked' },
    });
    expect(logs[0]?.message).toBe('withheld by the profile "redacts": blocked_patterns[0]');
    const blocks = { context: { 'ai.policy': 'blocks' } };
    expect((await respond(completion(text), blocks)).answer?.status).toBe(403);
    expect((await respond(completion('nothing'), blocks)).outcome).toBe('continue');
    expect((await respond(completion(`${'x'.repeat(5_000)}!`))).answer?.status).toBe(403);
  });

  it('goes by the profile that ai.policy names', async () => {
    const of = (name: string) => bodyOf(completion(text), { context: { 'ai.policy': name } });
    expect(await of('open')).toEqual(completion(text));
    expect(await of('unknown')).toEqual(completion(redacted));
    expect(JSON.stringify(await of('hashes'))).toMatch(/\[EMAIL:[0-9a-f]{12}\]/);
  });

  it('rewrites a stream that another plugin holds', async () => {
    const event = (content: string, finish: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
    const events = `${event('write to ann@')}${event('example.com')}${event('', 'stop')}data: [DONE]\n\n`;
    const { response } = await respond(events, {}, { 'content-type': 'text/event-stream' });
    expect(response.body).not.toContain('ann@');
    expect(response.body).toContain('[EMAIL]');
    expect(response.body.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it.each<[string, string, object, number]>([
    ['an error', JSON.stringify({ error: { message: text } }), JSON_TYPE, 400],
    ['what is no JSON', 'ann@example.com', { 'content-type': 'text/plain' }, 200],
  ])('lets %s pass', async (_, body, headers, status) => {
    expect((await respond(body, {}, headers, status)).response).toMatchObject({ status, body });
  });

  it('withholds what it cannot read', async () => {
    const encoded = await respond(completion(text), {}, { ...JSON_TYPE, 'content-encoding': 'gzip' });
    expect(encoded.answer?.status).toBe(502);
    expect(encoded.problem).toMatchObject({ code: 'response_not_checked' });
    const deep = await respond(`{"a":${'['.repeat(300)}${']'.repeat(300)}}`);
    expect(deep.answer?.status).toBe(403);
  });

  it('takes only a config that it can keep', async () => {
    await expect(kit.bind({ ...config, default_profile: 'none' })).rejects.toThrow('default_profile');
    const { hash_key: _, ...keyless } = config;
    await expect(kit.bind(keyless)).rejects.toThrow('hash_key');
    for (const wrong of [
      {},
      { ...config, profiles: { redacts: { pii: { name: 'redact' } } } },
      { ...config, profiles: { redacts: { pii: { email: 'drop' } } } },
      { ...config, profiles: { redacts: { blocked_patterns: ['('] } } },
      { ...config, hash_key: 'short' },
    ]) {
      await expect(kit.bind(wrong), JSON.stringify(wrong)).rejects.toThrow('schema');
    }
  });
});
