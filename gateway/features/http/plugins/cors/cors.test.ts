import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const origin = 'https://app.example.com';
const PREFLIGHT_VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

const preflight = (config: Record<string, unknown>, method = 'GET', headers?: string, from = origin) =>
  kit.onRequest({
    config: JSON.parse(JSON.stringify(config)),
    method: 'OPTIONS',
    headers: {
      origin: from,
      'access-control-request-method': method,
      ...(headers === undefined ? {} : { 'access-control-request-headers': headers }),
    },
  });

const actual = (config: Record<string, unknown>, from: string | undefined = origin, method = 'GET') =>
  kit.onRequest({
    config: JSON.parse(JSON.stringify(config)),
    method,
    ...(from === undefined ? {} : { headers: { origin: from } }),
  });

describe('cors preflight', () => {
  const config = { allowed_origins: [origin], allowed_methods: ['GET', 'PUT'], allowed_headers: ['X-One', 'X-Two'] };

  it('answers 204 with what is allowed', async () => {
    const { outcome, answer } = await preflight(config, 'PUT', 'x-two, content-type,X-ONE');
    expect(outcome).toBe('answered');
    expect(answer).toEqual({
      status: 204,
      headers: {
        vary: PREFLIGHT_VARY,
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, PUT',
        'access-control-allow-headers': 'X-One, X-Two, content-type',
        'access-control-max-age': '3600',
      },
      body: '',
    });
  });

  it('names the safelisted headers that it was asked for, once more than those of its config', async () => {
    const asked = async (names?: string) =>
      (await preflight(config, 'GET', names)).answer?.headers['access-control-allow-headers'];
    expect(await asked()).toBe('X-One, X-Two');
    expect(await asked('x-one')).toBe('X-One, X-Two');
    expect(await asked('content-type, range')).toBe('X-One, X-Two, content-type, range');
    const none = { allowed_origins: [origin], allowed_headers: ['Content-Type'] };
    expect((await preflight(none, 'GET', 'content-type')).answer?.headers['access-control-allow-headers']).toBe(
      'Content-Type',
    );
  });

  it('allows GET and POST, and no header of its own, by default', async () => {
    const { answer } = await preflight({ allowed_origins: [origin] });
    expect(answer?.headers).toMatchObject({
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': '',
    });
    expect((await preflight({ allowed_origins: [origin] }, 'PUT')).answer?.status).toBe(403);
  });

  it.each([
    ['a foreign origin', 'PUT', undefined, 'https://evil.example'],
    ['a method that is not allowed', 'DELETE', undefined, origin],
    ['a method in another case', 'put', undefined, origin],
    ['a header that is not allowed', 'PUT', 'x-three', origin],
    ['one of several headers that is not allowed', 'PUT', 'x-one,x-three', origin],
    ['authorization', 'PUT', 'authorization', origin],
  ])('answers 403 to %s', async (_what, method, headers, from) => {
    const { answer, problem } = await preflight(config, method, headers, from);
    expect(answer?.status).toBe(403);
    expect(answer?.headers['vary']).toBe(PREFLIGHT_VARY);
    expect(answer?.headers['access-control-allow-methods']).toBeUndefined();
    expect(problem).toMatchObject({ type: 'urn:gw:error:forbidden', title: 'Forbidden' });
  });

  it('allows any header by *, and any method', async () => {
    const any = { allowed_origins: ['*'], allowed_headers: ['*'], allowed_methods: ['*'] };
    const { answer } = await preflight(any, 'PATCH', 'x-anything');
    expect(answer?.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': '*',
      'access-control-allow-methods': '*',
    });
  });

  it('takes * for any header but authorization, as browsers do', async () => {
    const any = { allowed_origins: ['*'], allowed_headers: ['*'] };
    expect((await preflight(any, 'GET', 'x-anything, authorization')).answer?.status).toBe(403);
    const { answer } = await preflight({ ...any, allowed_headers: ['*', 'Authorization'] }, 'GET', 'authorization,x-a');
    expect(answer?.headers).toMatchObject({ 'access-control-allow-headers': '*, Authorization' });
  });

  it('allows no method that is not listed, but for HEAD where GET is', async () => {
    const get = { allowed_origins: [origin], allowed_methods: ['GET'] };
    expect((await preflight(get, 'HEAD')).answer?.status).toBe(204);
    expect((await preflight(get, 'POST')).answer?.status).toBe(403);
    expect((await preflight({ ...get, allowed_methods: ['PUT'] }, 'GET')).answer?.status).toBe(403);
    expect((await preflight({ ...get, allowed_methods: ['PUT'] }, 'HEAD')).answer?.status).toBe(403);
  });

  it('takes max_age and credentials from its config', async () => {
    const { answer } = await preflight({ ...config, max_age: 5, allow_credentials: true });
    expect(answer?.headers).toMatchObject({
      'access-control-max-age': '5',
      'access-control-allow-credentials': 'true',
      'access-control-allow-origin': origin,
    });
  });
});

describe('cors on requests', () => {
  it('stages headers for the answer, whatever it will be', async () => {
    const config = { allowed_origins: [origin], expose_headers: ['X-A', 'X-B'], allow_credentials: true };
    const { outcome, staged } = await actual(config);
    expect(outcome).toBe('continue');
    expect(staged).toEqual({
      vary: 'Origin',
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'X-A, X-B',
    });
  });

  it('answers 403 to a foreign origin, of any method', async () => {
    for (const method of ['GET', 'DELETE', 'OPTIONS']) {
      const { answer } = await actual({ allowed_origins: [origin] }, 'https://evil.example', method);
      expect(answer?.status).toBe(403);
      expect(answer?.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('passes a request without Origin', async () => {
    const { outcome, staged } = await kit.onRequest({ config: { allowed_origins: [origin] } });
    expect(outcome).toBe('continue');
    expect(staged).toEqual({ vary: 'Origin' });
  });

  it('varies by nothing where every origin is allowed', async () => {
    const { staged } = await actual({ allowed_origins: ['*'] });
    expect(staged).toEqual({ 'access-control-allow-origin': '*' });
    expect((await kit.onRequest({ config: { allowed_origins: ['*'] } })).staged).toEqual({});
  });

  it('refuses every origin by default', async () => {
    expect((await actual({})).answer?.status).toBe(403);
  });

  it('answers OPTIONS without a requested method as any other', async () => {
    expect((await actual({ allowed_origins: [origin] }, origin, 'OPTIONS')).outcome).toBe('continue');
  });

  it.each([
    ['*.example.com', 'https://app.example.com', true],
    ['*.example.com', 'http://a.b.example.com', true],
    ['*.example.com', 'https://app.example.com:8443', true],
    ['*.example.com:8443', 'https://app.example.com:8443', true],
    ['*.example.com:8443', 'https://app.example.com', false],
    ['https://*.example.com', 'https://app.example.com', true],
    ['https://*.example.com', 'http://app.example.com', false],
    ['*.example.com', 'https://example.com', false],
    ['*.example.com', 'https://evilexample.com', false],
    ['*.example.com', 'https://evil.test/.example.com', false],
    ['*.example.com', 'https://x@.example.com', false],
    ['*.example.com', 'https://app.example.com.evil.example', false],
    ['*.example.com', 'https://evil.example:80.example.com', false],
    ['*.example.com', 'null', false],
    [origin, 'https://app.example.com:443', false],
    ['https://app.example.com:443', 'https://app.example.com', true],
    ['HTTP://App.Example.com:80', 'http://app.example.com', true],
    ['http://app.example.com:443', 'http://app.example.com', false],
    ['http://[::1]:3000', 'http://[::1]:3000', true],
    [origin, 'https://app.example.com.evil.example', false],
    [origin, 'http://app.example.com', false],
    ['null', 'null', true],
    [origin, 'null', false],
  ])('with %s allowed, %s is %s', async (allowed, from, passes) => {
    const { outcome } = await actual({ allowed_origins: [allowed] }, from);
    expect(outcome).toBe(passes ? 'continue' : 'answered');
  });
});

describe('cors config', () => {
  it.each([
    { allowed_origins: ['*'], allow_credentials: true },
    { allowed_headers: ['*'], allow_credentials: true },
    { allowed_methods: ['*'], allow_credentials: true },
    { expose_headers: ['*'], allow_credentials: true },
    { allowed_origins: ['example.com'] },
    { allowed_origins: ['https://example.com/'] },
    { allowed_origins: ['https://*'] },
    { max_age: '1' },
    { other: 1 },
  ])('refuses %j', async (config) => {
    await expect(kit.bind(config)).rejects.toThrow(/schema/);
  });
});
