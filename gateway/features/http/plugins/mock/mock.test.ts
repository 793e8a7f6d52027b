import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

describe('mock', () => {
  it('answers 200 with an empty body by default, which has no type', async () => {
    const { outcome, answer } = await kit.dispatch({});
    expect(outcome).toBe('answered');
    expect(answer).toEqual({ status: 200, headers: {}, body: '' });
  });

  it('answers with status, body, headers and content type of its config', async () => {
    const config = { status: 418, body: 'short and stout', content_type: 'text/plain', headers: { 'X-Pot': 'tea' } };
    const { answer } = await kit.dispatch({ config });
    expect(answer).toEqual({
      status: 418,
      headers: { 'content-type': 'text/plain', 'x-pot': 'tea' },
      body: 'short and stout',
    });
  });

  it('lets a content type among the headers win, and leaves it out where it is empty', async () => {
    const both = await kit.dispatch({ config: { headers: { 'Content-Type': 'text/html' } } });
    expect(both.answer?.headers).toEqual({ 'content-type': 'text/html' });
    const none = await kit.dispatch({ config: { content_type: '' } });
    expect(none.answer?.headers).toEqual({});
  });

  it('fills in every placeholder', async () => {
    const body =
      '{{request.method}} {{request.path}} {{request.query}} {{request.client_ip}} {{headers.X-Who}} {{headers.x-who}} {{path_params.id}}';
    const { answer } = await kit.dispatch({
      config: { body, content_type: 'text/plain' },
      method: 'POST',
      path: '/users/a%20b?x=1&y=2',
      clientIp: '2001:db8::7',
      headers: { 'x-who': 'me' },
      operation: { path: '/users/{id}', params: { id: 'a b' } },
    });
    expect(answer?.body).toBe('POST /users/a%20b x=1&y=2 2001:db8::7 me me a b');
  });

  it('leaves unresolved placeholders as they are written', async () => {
    const body =
      '{{request.query}} {{headers.nope}} {{path_params.nope}} {{ other }} {{{{request.method}} {{request.method';
    const { answer } = await kit.dispatch({ config: { body, content_type: 'text/plain' } });
    expect(answer?.body).toBe(
      '{{request.query}} {{headers.nope}} {{path_params.nope}} {{ other }} {{GET {{request.method',
    );
  });

  it('escapes what it fills into JSON, and only there', async () => {
    const body = '{"who":"{{headers.x-who}}"}';
    const headers = { 'x-who': 'a"b\\c\td' };
    const json = await kit.dispatch({ config: { body }, headers });
    expect(JSON.parse(json.answer?.body ?? '')).toEqual({ who: 'a"b\\c\td' });
    const text = await kit.dispatch({ config: { body, content_type: 'text/plain' }, headers });
    expect(text.answer?.body).toBe('{"who":"a"b\\c\td"}');
  });

  it('handles bodies and values larger than its buffers', async () => {
    const long = 'x'.repeat(9_000);
    const { answer } = await kit.dispatch({
      config: { body: `${long}{{headers.x-long}}${long}é`, content_type: 'text/plain' },
      headers: { 'x-long': 'y'.repeat(5_000) },
    });
    expect(answer?.body).toBe(`${long}${'y'.repeat(5_000)}${long}é`);
  });

  it.each([
    { status: 199 },
    { status: 600 },
    { status: '200' },
    { headers: { 'bad name': 'x' } },
    { headers: { a: 'x\ny' } },
    { headers: { 'Content-Length': '5' } },
    { other: 1 },
  ])('has a schema that refuses %j', async (config) => {
    await expect(kit.bind(config)).rejects.toThrow(/schema/);
  });
});

describe('mock with credentials', () => {
  const key = { in: 'header', name: 'X-API-Key' };
  const bearer = { in: 'header', name: 'Authorization', scheme: 'Bearer' };
  const basic = { in: 'header', name: 'Authorization', scheme: 'Basic' };
  const query = { in: 'query', name: 'key' };
  const cookie = { in: 'cookie', name: 'session' };
  type Request = Omit<Parameters<PluginKit['dispatch']>[0], 'config'>;
  const status = async (credentials: readonly (readonly object[])[], request: Request = {}) =>
    (await kit.dispatch({ config: { body: 'x', credentials: JSON.parse(JSON.stringify(credentials)) }, ...request }))
      .answer?.status;

  it('answers 401 with every challenge where no alternative is met, and says what is asked for', async () => {
    const config = { body: 'x', credentials: [[key, { in: 'query', name: 'a"\r\nb' }], [bearer]] };
    const { answer, problem } = await kit.dispatch({ config });
    expect(answer?.status).toBe(401);
    expect(answer?.headers['www-authenticate']).toBe(
      'ApiKey realm="api", in="header", name="X-API-Key", ApiKey realm="api", in="query", name="a\\"??b", Bearer realm="api"',
    );
    expect(problem).toMatchObject({
      type: 'urn:gw:error:unauthorized',
      detail: expect.stringMatching(
        /^The API description asks for X-API-Key in the header and .*, or Authorization: Bearer … in the header\.$/s,
      ),
    });
  });

  it.each<[string, readonly (readonly object[])[], Request, number]>([
    ['a header', [[key]], { headers: { 'x-api-key': 'k' } }, 200],
    ['an empty header', [[key]], { headers: { 'x-api-key': '' } }, 401],
    ['a query parameter', [[query]], { path: '/?key=k' }, 200],
    ['an empty query parameter', [[query]], { path: '/?key=' }, 401],
    ['a cookie', [[cookie]], { headers: { cookie: 'a=1; session=s' } }, 200],
    ['another cookie', [[cookie]], { headers: { cookie: 'sessions=s' } }, 401],
    ['a token', [[bearer]], { headers: { authorization: 'bearer t' } }, 200],
    ['a scheme alone', [[bearer]], { headers: { authorization: 'Bearer ' } }, 401],
    ['another scheme', [[bearer]], { headers: { authorization: 'Basic YTpi' } }, 401],
    ['name and password', [[basic]], { headers: { authorization: 'Basic YTpi' } }, 200],
    ['no name and password', [[basic]], { headers: { authorization: 'Basic YWI=' } }, 401],
    ['no Base64', [[basic]], { headers: { authorization: 'Basic ?' } }, 401],
    ['one of two', [[key, bearer]], { headers: { 'x-api-key': 'k' } }, 401],
    ['both of two', [[key, bearer]], { headers: { 'x-api-key': 'k', authorization: 'Bearer t' } }, 200],
    ['the second alternative', [[key], [bearer]], { headers: { authorization: 'Bearer t' } }, 200],
  ])('takes %s for what it is', async (_, credentials, request, expected) => {
    expect(await status(credentials, request)).toBe(expected);
  });
});
