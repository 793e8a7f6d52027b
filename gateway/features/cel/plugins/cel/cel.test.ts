import { type HookRequest, type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const deny = { status: 451, code: 'model_not_permitted', message: 'not this model' };
const refuse = (expression: string, request: HookRequest = {}) =>
  kit.onRequest({ ...request, config: { expression, on_match: { deny } } });

describe('cel', () => {
  it('answers with the problem document that deny describes', async () => {
    const { outcome, answer, problem } = await refuse('request.method == "GET"');
    expect(outcome).toBe('answered');
    expect(answer?.headers['content-type']).toBe('application/problem+json');
    expect(problem).toEqual({
      type: 'urn:gw:error:denied',
      title: 'Request denied',
      status: 451,
      detail: 'not this model',
      code: 'model_not_permitted',
    });
  });

  it('has defaults for all of it', async () => {
    const { problem } = await kit.onRequest({ config: { expression: 'true', on_match: { deny: {} } } });
    expect(problem).toMatchObject({ status: 403, detail: 'Access denied', code: 'denied' });
  });

  it('lets others pass', async () => {
    expect(await refuse('request.method == "POST"')).toMatchObject({ outcome: 'continue', answer: null, context: {} });
  });

  it('sets context for later plugins, and leaves alone what others set', async () => {
    const set_context = { 'ai.policy': 'strict', 'ai.target': 'small', 'a/b~c': 'x' };
    const config = { expression: '"interns" in request.groups', on_match: { set_context } };
    const headers = { 'x-auth-consumer-groups': 'interns' };
    const { outcome, context } = await kit.onRequest({ config, headers, context: { before: '1' } });
    expect(outcome).toBe('continue');
    expect(context).toEqual({ before: '1', ...set_context });
    expect((await kit.onRequest({ config })).context).toEqual({});
  });

  it.each([
    ['request.body_json.model == "large"', { body: '{"model":"large"}' }],
    ['request.claims.age < 18', { headers: { 'x-auth-claims': '{"age":17}' } }],
    ['request.consumer == "bob"', { headers: { 'x-auth-consumer': 'bob' } }],
    ['request.client_ip.startsWith("192.0.2.")', {}],
    ['request.query.debug == ["1"]', { path: '/?debug=1' }],
    ['request.path_params.id.matches("^[0-9]+$")', { operation: { path: '/{id}', params: { id: '7' } } }],
    ['request.time.getFullYear() >= 2024', {}],
    ['request.body_json == null', {}],
  ])('reads %s', async (expression, request: HookRequest) => {
    expect((await refuse(expression, request)).outcome).toBe('answered');
  });

  it('reads the body only where the expression does', async () => {
    expect((await refuse('request.method == "POST"', { body: '{}' })).requestBody).toBeNull();
    expect((await refuse('request.body_json.a == 1', { body: '{"a":2}' })).requestBody).toBe('{"a":2}');
  });

  it('takes an expression that cannot be evaluated for false, and logs where and why', async () => {
    const { outcome, logs } = await refuse('request.claims.tenant == "x"');
    expect(outcome).toBe('continue');
    expect(logs).toEqual([
      {
        level: 'warn',
        message: 'the expression could not be evaluated: line 1, column 15: there is no such element',
      },
    ]);
  });

  it('refuses it with on_error: deny, whatever on_match says', async () => {
    const expression = 'request.body_json.a == 1';
    const on = (on_match: HookRequest['config']) =>
      kit.onRequest({ config: { expression, on_match: on_match ?? {}, on_error: 'deny' }, body: '{"a":' });
    expect((await on({ deny })).problem).toMatchObject({ status: 451, code: 'model_not_permitted' });
    expect((await on({ set_context: { a: 'b' } })).problem).toMatchObject({
      status: 403,
      code: 'denied',
      detail: 'The request could not be checked',
    });
  });

  it('stops expressions that take too long', async () => {
    const body = JSON.stringify({ list: Array.from({ length: 5_000 }, (_, i) => i) });
    const { outcome, logs } = await refuse('request.body_json.list.all(x, request.body_json.list.all(y, y >= 0.0))', {
      body,
    });
    expect(outcome).toBe('answered');
    expect(logs[0]?.message).toContain('takes more than 5000 steps');
  });

  it.each<[string, string | Uint8Array, Record<string, string>]>([
    ['what is no JSON', '{"a":', {}],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), {}],
    ['JSON with a NUL behind it', '{"a":1}\0', {}],
    ['NaN', '{"a":NaN}', {}],
    ['a comment', '/**/{"a":1}', {}],
    ['a byte order mark alone', '\ufeff', {}],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}],
    ['an encoding', '{"a":1}', { 'content-encoding': 'gzip' }],
  ])('refuses %s where the expression reads it, unless on_error: continue is written', async (_, body, headers) => {
    const ask = (on_match: { deny: typeof deny } | { set_context: { a: string } }, on_error?: string) =>
      kit.onRequest({
        config: { expression: 'request.body_json.a == 2', on_match, ...(on_error ? { on_error } : {}) },
        body,
        headers,
      });
    expect((await ask({ deny })).problem).toMatchObject({ status: 451 });
    expect((await ask({ set_context: { a: 'b' } })).problem).toMatchObject({
      status: 403,
      detail: 'The request could not be checked',
    });
    expect((await ask({ deny }, 'deny')).outcome).toBe('answered');
    expect((await ask({ deny }, 'continue')).outcome).toBe('continue');
    // What does not look at the body does not care.
    const config = { expression: 'request.method == "PUT" && request.body_json.a == 2', on_match: { deny } };
    expect((await kit.onRequest({ config, body, headers })).outcome).toBe('continue');
  });

  it('refuses what a client makes too long to evaluate', async () => {
    const query = Array.from({ length: 3_000 }, (_, i) => `a${i}=1`).join('&');
    const slow = 'request.query.exists(k, k == "tier" && request.query.exists(other, other == "free"))';
    expect((await refuse(slow, { path: `/?${query}&tier=1` })).outcome).toBe('answered');
  });

  it('reads behind a byte order mark, and as much as there is', async () => {
    expect((await refuse('request.body_json.a == 1', { body: '\ufeff{"a":1}' })).outcome).toBe('answered');
    const padded = `{"a":1${' '.repeat(2 << 20)}}`;
    expect((await refuse('request.body_json.a == 1', { body: padded })).outcome).toBe('answered');
  });

  it('says where an expression is wrong when it is loaded', async () => {
    await expect(kit.bind({ expression: 'request.metod == "GET"', on_match: { deny } })).rejects.toThrow(
      'plugin "cel": rejects its config: the expression is not valid: line 1, column 8: a request has no metod',
    );
  });

  it.each([
    { expression: 'true' },
    { expression: 'true', on_match: {} },
    { expression: 'true', on_match: { deny, set_context: { a: 'b' } } },
    { expression: 'true', on_match: { set_context: { a: 1 } } },
    { expression: 'true', on_match: { deny: { status: 200 } } },
    { expression: '', on_match: { deny } },
  ])('refuses the config %j', async (bad) => {
    await expect(kit.bind(bad)).rejects.toThrow(/schema/);
  });
});
