/** Validation as a client of `gw serve` sees it: bodies of every kind, negotiation, responses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const book = {
  type: 'object',
  required: ['id', 'title', 'secret'],
  properties: {
    id: { type: 'integer', readOnly: true },
    title: { type: 'string' },
    secret: { type: 'string', writeOnly: true },
  },
};
const upload = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string' }, pages: { type: 'integer' }, cover: { type: 'string', format: 'binary' } },
};
const json = (schema: object) => ({ 'application/json': { schema } });

function document(upstream: string) {
  const proxy = { name: 'http-upstream', config: { url: upstream } };
  const mock = (body: string) => ({ name: 'mock', config: { body, content_type: 'application/json' } });
  const answers = { 200: { description: 'OK', content: json({ $ref: '#/components/schemas/Book' }) } };
  const checked = (mode: string) => ({
    get: { responses: answers, 'x-gw-validate-response': mode, 'x-gw-dispatch': proxy },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Validation', version: '1' },
    components: { schemas: { Book: book } },
    paths: {
      '/forms': {
        post: {
          responses: { 200: { description: 'OK' } },
          requestBody: {
            required: true,
            content: {
              'application/x-www-form-urlencoded': { schema: upload },
              'multipart/form-data': { schema: upload, encoding: { cover: { contentType: 'image/png' } } },
              'text/plain': { schema: { type: 'string', maxLength: 3 } },
              'application/merge-patch+json': { schema: { $ref: '#/components/schemas/Book' } },
            },
          },
          'x-gw-dispatch': proxy,
        },
      },
      '/negotiated': { get: { responses: answers, 'x-gw-dispatch': mock('{}') } },
      '/proxied': {
        get: { responses: answers, 'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } } },
      },
      '/demanding': {
        get: {
          parameters: [
            {
              name: 'Accept',
              in: 'header',
              required: true,
              schema: { type: 'string', pattern: '^application/vnd[.]' },
            },
          ],
          responses: answers,
          'x-gw-dispatch': proxy,
        },
      },
      '/off': checked('off'),
      '/log': checked('log'),
      '/enforce': checked('enforce'),
      '/enforce-json': checked('enforce-json'),
      '/mocked': {
        get: { responses: answers, 'x-gw-validate-response': 'enforce', 'x-gw-dispatch': mock('{"id":"x"}') },
      },
    },
  };
}

describe('validation', () => {
  let upstream: Upstream;
  let gw: Gateway;
  let answer = { type: 'application/json', body: '{}', status: 200 };
  beforeAll(async () => {
    upstream = await startUpstream((_request, response) => {
      response.statusCode = answer.status;
      if (answer.type !== '') response.setHeader('content-type', answer.type);
      response.end(answer.body);
    });
    const artifact = await compileSpec(document(upstream.url), ['mock', 'http-upstream']);
    gw = await startGateway(artifact, {
      args: ['--dev', '--log-level', 'debug'],
      env: { GW_MAX_UPSTREAM_RESPONSE_BYTES: '1000' },
    });
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  const post = (body: NonNullable<RequestInit['body']>, type?: string) =>
    fetch(`${gw.url}/forms`, {
      method: 'POST',
      body,
      ...(type === undefined ? {} : { headers: { 'content-type': type } }),
    });
  const errorsOf = async (response: Response) => {
    const problem = await jsonOf<{ status: number; errors?: { in: string; field: string; reason: string }[] }>(
      response,
    );
    return [problem.status, ...(problem.errors ?? []).map((each) => `${each.in} ${each.field} ${each.reason}`)];
  };

  it('takes forms by their schema', async () => {
    expect((await post(new URLSearchParams({ title: 'Dune', pages: '600' }))).status).toBe(200);
    expect(await errorsOf(await post(new URLSearchParams({ pages: 'many' })))).toEqual([
      400,
      "body / must have required property 'title'",
      'body /pages must be integer',
    ]);
  });

  it('takes multipart forms with files, as clients write them', async () => {
    const form = new FormData();
    form.set('title', 'Dune');
    form.set('cover', new Blob(['\x89PNG'], { type: 'image/png' }), 'cover.png');
    expect((await post(form)).status).toBe(200);
    expect(upstream.seen.at(-1)?.body).toContain('filename="cover.png"');
    form.set('cover', new Blob(['GIF'], { type: 'image/gif' }), 'cover.gif');
    form.set('pages', 'many');
    expect(await errorsOf(await post(form))).toEqual([
      400,
      'body /cover has content type image/gif: image/png is accepted',
    ]);
    form.delete('cover');
    expect(await errorsOf(await post(form))).toEqual([400, 'body /pages must be integer']);
  });

  it('takes text and +json', async () => {
    expect((await post('abc', 'text/plain')).status).toBe(200);
    expect(await errorsOf(await post('abcd', 'text/plain'))).toEqual([
      400,
      'body / must NOT have more than 3 characters',
    ]);
    const patch = 'application/merge-patch+json';
    expect((await post('{"title":"x","secret":"y"}', patch)).status).toBe(200);
    expect(await errorsOf(await post('{"title":1,"secret":"y"}', patch))).toEqual([400, 'body /title must be string']);
  });

  it.each(['application/xml', 'application/json', 'text/plain; charset=iso-8859-1'])(
    'answers 415 to %s',
    async (type) => {
      expect((await post('{}', type)).status).toBe(415);
    },
  );

  it.each([
    ['application/json', 200],
    ['text/html, application/*;q=0.5', 200],
    ['text/html', 406],
    ['application/json;q=0', 406],
    ['text/html, */*;q=0.1', 200],
    ['nonsense', 200],
  ])('answers Accept: %s with %d', async (accept, status) => {
    const response = await fetch(`${gw.url}/negotiated`, { headers: { accept } });
    expect(response.status).toBe(status);
    if (status === 406)
      expect(await errorsOf(response)).toEqual([406, 'header accept admits none of application/json']);
  });

  it.each(['application/vnd.github+json', 'text/html', 'application/json;q=0'])(
    'leaves Accept: %s to the upstream that makes the answer',
    async (accept) => {
      expect((await fetch(`${gw.url}/proxied`, { headers: { accept } })).status).toBe(200);
      expect(upstream.seen.at(-1)?.headers['accept']).toBe(accept);
    },
  );

  it('validates an Accept that the description declares', async () => {
    const send = (accept: string) => fetch(`${gw.url}/demanding`, { headers: { accept } });
    expect((await send('application/vnd.pagerduty+json;version=2')).status).toBe(200);
    expect(await errorsOf(await send('application/json'))).toEqual([
      400,
      'header accept must match pattern "^application/vnd[.]"',
    ]);
  });

  const get = (path: string) => fetch(gw.url + path, { headers: { 'x-request-id': `id${path.replace('/', '-')}` } });

  it('passes responses that hold: what is writeOnly need not be there', async () => {
    answer = { type: 'application/json', body: '{"id":1,"title":"Dune"}', status: 200 };
    for (const path of ['/off', '/log', '/enforce']) {
      const response = await get(path);
      expect([response.status, await response.text()], path).toEqual([200, answer.body]);
    }
    expect(upstream.seen.at(-1)?.headers['accept-encoding']).toBe('identity');
  });

  it.each([
    ['text/html', '<p>an error</p>', 'header content-type is text/html, and only application/json is described'],
    ['text/html', 'x'.repeat(5000), 'header content-type is text/html, and only application/json is described'],
    ['', '', 'header content-type is missing, and only application/json is described'],
    ['application/json', '', 'body / is not valid JSON in UTF-8'],
  ])('withholds a 200 of type "%s" where only JSON is described', async (type, body, why) => {
    answer = { type, body, status: 200 };
    const send = (path: string) => fetch(gw.url + path);
    expect((await send('/off')).status).toBe(200);
    expect((await send('/log')).status).toBe(200);
    expect(await errorsOf(await send('/enforce'))).toEqual([502, why]);
    expect((await send('/enforce-json')).status).toBe(type === 'application/json' ? 502 : 200);
  });

  it('withholds or reports those that do not', async () => {
    answer = { type: 'application/json', body: '{"title":7}', status: 200 };
    expect((await get('/off')).status).toBe(200);
    const passed = await get('/log');
    expect([passed.status, await passed.text()]).toEqual([200, answer.body]);
    const warned = await gw.logged(
      ({ request_id, level, msg }) => request_id === 'id-log' && level === 'warn' && msg !== 'request headers dropped',
    );
    expect(warned).toMatchObject({
      route: '/log',
      status: 200,
      withheld: false,
      errors: [
        { in: 'body', field: '/', reason: "must have required property 'id'" },
        { in: 'body', field: '/title', reason: 'must be string' },
      ],
    });
    const withheld = await get('/enforce');
    expect(await errorsOf(withheld)).toEqual([
      502,
      "body / must have required property 'id'",
      'body /title must be string',
    ]);
    expect(withheld.headers.get('content-type')).toBe('application/problem+json');
    expect((await get('/mocked')).status).toBe(502);
  });

  it('withholds a content type that is not described, and lets pass what it cannot judge', async () => {
    answer = { type: 'application/vnd.other+json', body: '{}', status: 200 };
    expect((await get('/enforce')).status).toBe(502);
    answer = { type: 'text/plain', body: 'text', status: 200 };
    expect((await get('/enforce')).status).toBe(502);
    expect((await get('/enforce-json')).status).toBe(200);
    answer = { type: 'application/json', body: '{}', status: 503 };
    expect((await get('/enforce')).status).toBe(503);
    answer = { type: 'application/json', body: JSON.stringify({ long: 'x'.repeat(100_000) }), status: 200 };
    const large = await get('/enforce');
    expect([large.status, await large.text()]).toEqual([200, answer.body]);
    await gw.logged(({ msg, why }) => msg === 'response not validated' && why === 'its body is too large to be held');
  });
});
