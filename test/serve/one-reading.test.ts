/**
 * Messages that two readers could read differently: the gateway checks one reading, and sends no other
 * (docs/decisions.md#one-reading).
 */
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture } from './fixture-plugin.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { h2, h2session } from './http.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const json = (schema: object) => ({ requestBody: { content: { 'application/json': { schema } } } });
const price = { type: 'object', properties: { price: { type: 'integer', maximum: 10 } } };
const any = { requestBody: { content: { '*/*': {} } } };
const condition = { expression: 'request.body_json.price > 10', on_match: { deny: { status: 403 } } };
const marking = { expression: condition.expression, on_match: { set_context: { dear: 'yes' } } };
const header = (name: string, schema: object) => ({ name, in: 'header', schema });

function document(upstream: string) {
  const post = (more: object, ...middlewares: object[]) => ({
    post: {
      ...more,
      responses: { 200: { description: 'OK' } },
      'x-gw-middlewares': middlewares,
      'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
    },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'One reading', version: '1' },
    paths: {
      '/schema': post(json(price)),
      '/form': post({
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', properties: { one: price, n: { type: 'integer' } } },
            },
            'multipart/form-data': { schema: { type: 'object', properties: { one: price, n: { type: 'integer' } } } },
          },
        },
      }),
      '/query': post({
        parameters: [
          { name: 'one', in: 'query', content: { 'application/json': { schema: price } } },
          { name: 'n', in: 'query', schema: { type: 'integer' } },
        ],
      }),
      '/changed': post(any, { name: 'request-transformer', config: { body: { set: { '/seen': true } } } }),
      '/condition': post(any, { name: 'cel', config: condition }),
      '/marked': post(any, { name: 'cel', config: marking }),
      '/lenient': post(any, { name: 'cel', config: { ...condition, on_error: 'continue' } }),
      '/plugin': post(any, { name: 'body-reverser', config: {} }),
      '/untouched': post(any),
      '/headers': post({
        parameters: [
          header('X-Tags', { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 2 }),
          header('X-Count', { type: 'integer' }),
          header('X-Flag', { type: 'boolean' }),
          header('X-Name', { type: 'string', maxLength: 4 }),
        ],
      }),
    },
  };
}

describe('messages that could be read in two ways', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    const plugins = ['http-upstream', 'request-transformer', 'cel'];
    gw = await startGateway(await compileSpec(document(upstream.url), plugins, [fixture('body-reverser')]), {
      args: ['--dev', '--max-body-size', String(4 << 20), '--plugin-cpu-ms', '500'],
    });
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  const post = (path: string, body: NonNullable<RequestInit['body']>, type?: string) =>
    fetch(gw.url + path, {
      method: 'POST',
      body,
      ...(type === undefined ? {} : { headers: { 'content-type': type } }),
    });

  /** What reached the upstream meanwhile. */
  async function sent<T>(run: () => Promise<T>): Promise<[T, number]> {
    const before = upstream.seen.length;
    const result = await run();
    return [result, upstream.seen.length - before];
  }

  const REPEATED = [
    ['as it is', '{"price":11,"price":1}'],
    ['with escapes', '{"price":11,"\\u0070rice":1}'],
    ['with white space', '{ "price" :11,\n"price"\t: 1 }'],
    ['deep inside', '{"price":1,"more":[{"a":{"b":1,"c":2,"b":3}}]}'],
    ['behind many others', `{${Array.from({ length: 3000 }, (_, i) => `"k${i}":${i}`).join(',')},"price":1,"k7":1}`],
  ];

  describe.each(REPEATED)('JSON with a member twice, %s', (_, body) => {
    it.each([
      ['/schema', 'application/json'],
      ['/changed', 'application/json'],
      ['/changed', 'application/merge-patch+json'],
      ['/condition', 'application/json'],
      // The condition reads it as JSON, whatever it says that it is.
      ['/condition', 'text/plain'],
      ['/plugin', 'application/json; charset=utf-8'],
    ])('is refused if anything parses it: %s, %s', async (path, type) => {
      const [response, reached] = await sent(() => post(path, body, type));
      expect([response.status, reached]).toEqual([400, 0]);
      // The fixture of /plugin turns responses round, too.
      if (path !== '/plugin') expect(await response.text()).toContain('an object has a member twice');
    });

    it('passes as it is where nothing parses it', async () => {
      expect((await post('/untouched', body, 'application/json')).status).toBe(200);
      expect(upstream.seen.at(-1)?.body).toBe(body);
      // A plugin that reads bytes of another type is no reader of JSON.
      expect((await post('/plugin', body, 'application/octet-stream')).status).toBe(200);
    });

    it('is refused in a parameter, a form and a part of one', async () => {
      if (body.length > 100) return;
      const form = new FormData();
      form.set('one', new Blob([body], { type: 'application/json' }));
      const query = new URLSearchParams({ one: body });
      for (const ask of [
        () => post('/form', query),
        () => post('/form', form),
        () => post(`/query?${query}`, 'x', 'text/plain'),
      ]) {
        const [response, reached] = await sent(ask);
        expect([response.status, reached]).toEqual([400, 0]);
      }
    });
  });

  /** Other forms of one JSON text, and whether they are JSON. */
  type Form = [name: string, make: (json: string) => Uint8Array, isJson: boolean, headers?: Record<string, string>];
  const FORMS: Form[] = [
    ['behind a byte order mark', (json) => Buffer.from(`\ufeff${json}`), true],
    ['behind two of them', (json) => Buffer.from(`\ufeff\ufeff${json}`), false],
    ['behind more than a megabyte of white space', (json) => Buffer.from(' '.repeat(3 << 19) + json), true],
    ['in UTF-16', (json) => Buffer.from(json, 'utf16le'), false],
    ['in UTF-16 with its mark', (json) => Buffer.from(`\ufeff${json}`, 'utf16le'), false],
    ['before a NUL', (json) => Buffer.from(`${json}\0`), false],
    ['with a comment', (json) => Buffer.from(`/* */${json}`), false],
    ['with a comment at its end', (json) => Buffer.from(`${json} // end`), false],
    ['beside NaN', (json) => Buffer.from(json.replace('}', ',"n":NaN}')), false],
    ['with a comma too many', (json) => Buffer.from(json.replace('}', ',}')), false],
    ['in gzip', (json) => gzipSync(json), false, { 'content-encoding': 'gzip' }],
    ['that says it is in gzip', (json) => Buffer.from(json), false, { 'content-encoding': 'gzip' }],
    [
      'in bytes that are not UTF-8',
      (json) =>
        Buffer.concat([Buffer.from(json.slice(0, -1)), Buffer.from([0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]),
      false,
    ],
  ];

  it.each<Form>(FORMS)('JSON %s is read by all readers, or by none of them', async (_, make, isJson, headers = {}) => {
    const ask = (path: string, json: string) =>
      fetch(gw.url + path, {
        method: 'POST',
        body: new Uint8Array(make(json)),
        headers: { 'content-type': 'application/json', ...headers },
      });
    for (const path of ['/schema', '/condition', '/marked']) {
      const [good, reached] = await sent(() => ask(path, '{"price":1}'));
      expect([path, good.status === 200, reached]).toEqual([path, isJson, isJson ? 1 : 0]);
      // Bytes go on as they were sent.
      if (isJson) expect(upstream.seen.at(-1)?.body === make('{"price":1}').toString(), 'the bytes as sent').toBe(true);
    }
    for (const path of ['/schema', '/condition']) {
      const [bad, reached] = await sent(() => ask(path, '{"price":11}'));
      expect([path, bad.status === 200, reached]).toEqual([path, false, 0]);
    }
    const [changed, reached] = await sent(() => ask('/changed', '{"price":1}'));
    expect([changed.status === 200, reached]).toEqual([isJson, isJson ? 1 : 0]);
    if (!isJson) return;
    // Compared as a whole: the difference of megabytes of blanks would take minutes to print.
    const isKept = upstream.seen.at(-1)?.body === make('{"price":1,"seen":true}').toString();
    expect(isKept, 'the bytes around the change').toBe(true);
  });

  it('that no rule can read passes if the rule says so', async () => {
    const body = '{"price":11}\0';
    expect((await post('/lenient', body, 'application/json')).status).toBe(200);
    expect(upstream.seen.at(-1)?.body).toBe(body);
  });

  it('with each member once go on, byte for byte', async () => {
    const body = '{ "price":1,"a:":"\\"b\\":1, \\"b\\" : 2","l":[{"price":1},{"price":2}],"\\u00e9":{"price":3}}';
    for (const path of ['/schema', '/condition', '/untouched']) {
      expect((await post(path, body, 'application/json')).status).toBe(200);
      expect(upstream.seen.at(-1)?.body).toBe(body);
    }
    expect((await post('/changed', body, 'application/json')).status).toBe(200);
  });

  it('show no member to the upstream that was taken for another one here', async () => {
    const body = '[{"\\\\u0070":1},{"price":11}]';
    await post('/condition', body, 'application/json');
    // JSON.parse of the engine takes `\\u0070rice` for a name of five characters that an earlier text had.
    await post('/schema', '{"\\\\u007":1}', 'application/json');
    const [response, reached] = await sent(() => post('/schema', '{"\\u0070rice":11}', 'application/json'));
    expect([response.status, reached]).toEqual([400, 0]);
  });

  it('with a field of a form or a parameter twice, where there is one, are refused', async () => {
    const form = new FormData();
    for (const n of ['1', '2']) form.append('n', n);
    for (const ask of [
      () => post('/form', new URLSearchParams('n=1&n=2')),
      () => post('/form', new URLSearchParams('n=1&%6e=2')),
      () => post('/form', form),
      () => post('/query?n=1&n=2', 'x', 'text/plain'),
      () => post('/query?n=1&%6E=2', 'x', 'text/plain'),
    ]) {
      const [response, reached] = await sent(ask);
      expect([response.status, reached]).toEqual([400, 0]);
    }
  });

  /** Headers as they stand in a list: several lines of one name. */
  function withLines(path: string, lines: readonly string[], body = 'x'): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = ['host', new URL(gw.url).host, 'content-length', String(body.length), ...lines];
      const asked = request(gw.url + path, { method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }

  it.each([
    ['content-type', 'application/json', 'text/plain'],
    ['Content-Type', 'text/plain', 'text/plain'],
    ['user-agent', 'a', 'b'],
    ['range', 'bytes=0-1', 'bytes=1-2'],
    ['origin', 'https://a.example', 'https://b.example'],
    ['X-Count', '1', '2'],
    ['x-flag', 'true', 'true'],
  ])('with two lines of %s are refused', async (name, ...values) => {
    const lines = values.flatMap((value, i) => [i === 0 ? name : name.toUpperCase(), value]);
    const [status, reached] = await sent(() => withLines('/headers', lines));
    expect([status, reached]).toEqual([400, 0]);
    const session = await h2session(gw.url);
    const head = { ':method': 'POST', ':path': '/headers', 'content-length': '1' };
    if (!['content-type', 'user-agent', 'range', 'origin'].includes(name.toLowerCase())) {
      expect((await h2(session, { ...head, [name.toLowerCase()]: values }, 'x')).status).toBe(400);
    }
    session.close();
  });

  it('with several lines of a list go on as one value, which is what was checked', async () => {
    expect(await withLines('/headers', ['X-Tags', 'a', 'Accept', 'text/plain', 'x-tags', 'b', 'accept', '*/*'])).toBe(
      200,
    );
    expect(upstream.seen.at(-1)?.headers).toMatchObject({ 'x-tags': 'a, b', accept: 'text/plain, */*' });
    expect(await withLines('/headers', ['X-Tags', 'a', 'X-Tags', 'c'])).toBe(400);
    expect(await withLines('/headers', ['X-Tags', 'a', 'X-Tags', 'b', 'X-Tags', 'a'])).toBe(400);
    expect(await withLines('/headers', ['X-Name', 'a', 'X-Name', 'b'])).toBe(200);
    expect(upstream.seen.at(-1)?.rawHeaders.filter((each) => each.toLowerCase() === 'x-name')).toHaveLength(1);
    expect(await withLines('/headers', ['X-Name', 'abc', 'X-Name', 'd'])).toBe(400);
  });
});
