/** Parameters as a client of `gw serve` sends them: every part and style, what they are checked against, what goes on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const integers = { type: 'array', items: { type: 'integer' }, maxItems: 2 };
const point = { type: 'object', required: ['x'], properties: { x: { type: 'integer' }, y: { type: 'integer' } } };
const filter = {
  type: 'object',
  additionalProperties: false,
  properties: {
    name: { type: 'string' },
    pages: { type: 'object', properties: { gt: { type: 'integer' }, lt: { type: 'integer' } } },
    tags: { type: 'array', items: { enum: ['a', 'b'] } },
    sort: { type: 'array', items: { type: 'object', required: ['by'], properties: { desc: { type: 'boolean' } } } },
  },
};
const query = (name: string, schema: object, more: object = {}) => ({ name, in: 'query', schema, ...more });

function document(upstream: string) {
  const operation = (...parameters: object[]) => ({
    get: {
      parameters,
      responses: { 200: { description: 'OK' } },
      'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
    },
  });
  const path = (style: string, explode: boolean, schema: object) => {
    return operation({ name: 'p', in: 'path', required: true, style, explode, schema });
  };
  return {
    openapi: '3.2.0',
    info: { title: 'Parameters', version: '1' },
    paths: {
      '/form': operation(query('p', integers)),
      '/form-list': operation(query('p', integers, { explode: false })),
      '/form-object': operation(query('p', point)),
      '/form-object-list': operation(query('p', point, { explode: false })),
      '/space': operation(query('p', integers, { style: 'spaceDelimited', explode: false })),
      '/pipe': operation(query('p', integers, { style: 'pipeDelimited', explode: false })),
      '/deep': operation(query('p', filter, { style: 'deepObject', explode: true })),
      '/deep-list': operation(query('expand', integers, { style: 'deepObject', explode: true })),
      '/content': operation({ name: 'p', in: 'query', content: { 'application/json': { schema: point } } }),
      '/content-text': operation({
        name: 'p',
        in: 'query',
        content: { 'text/plain': { schema: { type: 'integer' } } },
      }),
      '/reserved': operation(query('p', { type: 'string', maxLength: 12 }, { allowReserved: true })),
      '/empty': operation(query('p', { type: 'integer' }, { allowEmptyValue: true, required: true })),
      '/default': operation(query('p', { type: 'integer', default: 7 })),
      '/whole': operation({
        name: 'all',
        in: 'querystring',
        required: true,
        content: { 'application/x-www-form-urlencoded': { schema: point } },
      }),
      '/whole-json': operation({ name: 'all', in: 'querystring', content: { 'application/json': { schema: point } } }),
      '/simple/{p}': path('simple', false, integers),
      '/at/{lat},{lon}.{format}': {
        get: {
          parameters: [
            ...['lat', 'lon'].map((name) => ({ name, in: 'path', required: true, schema: { type: 'number' } })),
            { name: 'format', in: 'path', required: true, schema: { enum: ['json', 'tar.gz'] } },
          ],
          responses: { 200: { description: 'OK' } },
          'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream, path: '/{lat}/{lon}/{format}' } },
        },
      },
      '/label/{p}': path('label', true, integers),
      '/matrix/{p}': path('matrix', true, point),
      '/header': operation({ name: 'X-P', in: 'header', required: true, schema: integers }),
      '/cookie-raw': operation({ name: 'p', in: 'cookie', style: 'cookie', schema: { type: 'string', maxLength: 3 } }),
      '/cookie': operation({ name: 'p', in: 'cookie', required: true, schema: { type: 'integer' } }),
    },
  };
}

describe('parameters', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    gw = await startGateway(await compileSpec(document(upstream.url), ['http-upstream']), { args: ['--dev'] });
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  /** `ok`, or what is wrong. */
  async function verdict(target: string, headers: Record<string, string> = {}): Promise<string> {
    const response = await fetch(gw.url + target, { headers });
    if (response.status === 200) {
      await response.text();
      return 'ok';
    }
    const { errors = [] } = await jsonOf<{ errors?: { in: string; field: string; reason: string }[] }>(response);
    return errors.map((each) => `${each.in} ${each.field} ${each.reason}`).join('; ');
  }

  it.each([
    ['/form?p=1&p=2', 'ok'],
    ['/form?p=1&p=2&p=3', 'query p must NOT have more than 2 items'],
    ['/form?p=x', 'query p/0 must be integer'],
    ['/form-list?p=1,2', 'ok'],
    ['/form-list?p=1,x', 'query p/1 must be integer'],
    ['/form-object?x=1&y=2', 'ok'],
    ['/form-object?y=2', "query p must have required property 'x'"],
    ['/form-object-list?p=x,1,y,2', 'ok'],
    ['/form-object-list?p=x,one', 'query p/x must be integer'],
    ['/space?p=1%202', 'ok'],
    ['/space?p=1%20x', 'query p/1 must be integer'],
    ['/pipe?p=1%7C2', 'ok'],
    ['/pipe?p=1|2|3', 'query p must NOT have more than 2 items'],
    ['/content?p=%7B%22x%22:1%7D', 'ok'],
    ['/content?p=%7B%22y%22:1%7D', "query p must have required property 'x'"],
    ['/content?p=%7B', 'query p is not written in style "form", or badly encoded'],
    ['/content-text?p=5', 'ok'],
    ['/content-text?p=five', 'query p must be integer'],
    ['/simple/1,2', 'ok'],
    ['/simple/1,x', 'path p/1 must be integer'],
    ['/label/.1.2', 'ok'],
    ['/label/1', 'path p is not written in style "label", or badly encoded'],
    ['/matrix/;x=1;y=2', 'ok'],
    ['/matrix/;y=2', "path p must have required property 'x'"],
  ])('%s: %s', async (target, wanted) => {
    expect(await verdict(target)).toBe(wanted);
  });

  it.each([
    ['/at/7.5,71.441.json', '/7.5/71.441/json'],
    ['/at/7,71.json', '/7/71/json'],
    ['/at/7,71.5.tar.gz', '/7/71.5/tar.gz'],
    ['/at/7,71.441.xml', null],
    [`/at/7,${'.'.repeat(2000)}json`, null],
  ])('of several ways to split %s, the one whose values are valid: %s', async (target, wanted) => {
    const response = await fetch(gw.url + target);
    expect(response.status).toBe(wanted === null ? 400 : 200);
    if (wanted !== null) expect((await jsonOf<{ url: string }>(response)).url).toBe(wanted);
  });

  it.each([
    ['p[name]=Dune', 'ok'],
    ['p[pages][gt]=100&p[pages][lt]=200', 'ok'],
    ['p%5Bpages%5D%5Bgt%5D=many', 'query p/pages/gt must be integer'],
    ['p[tags]=a&p[tags]=b', 'ok'],
    ['p[tags]=a', 'ok'],
    ['p[tags][]=a&p[tags][]=b', 'ok'],
    ['p[tags][0]=a&p[tags][1]=c', 'query p/tags/1 must be equal to one of the allowed values: ["a","b"]'],
    ['p[sort][0][by]=title&p[sort][0][desc]=true', 'ok'],
    ['p[sort][0][desc]=1', "query p/sort/0 must have required property 'by'; query p/sort/0/desc must be boolean"],
    ['p[name]=a&p[name]=b', 'query p/name must be string'],
    ['p[other]=1', 'query p must NOT have additional properties: "other"'],
    ['p[__proto__][x]=1', 'query p must NOT have additional properties: "__proto__"'],
    ['p=Dune', 'query p must be object'],
    ['p[name', 'query p is not written in style "deepObject", or badly encoded'],
  ])('deepObject %s: %s', async (given, wanted) => {
    expect(await verdict(`/deep?${given}`)).toBe(wanted);
  });

  it.each(['expand[]=1', 'expand[]=1&expand[]=2', 'expand[0]=1&expand[1]=2'])(
    'a list in brackets: %s',
    async (given) => {
      expect(await verdict(`/deep-list?${given}`)).toBe('ok');
      expect(await verdict(`/deep-list?${given.replace('=1', '=x')}`)).toBe('query expand/0 must be integer');
    },
  );

  it('takes the whole query as one value', async () => {
    expect(await verdict('/whole?x=1&y=2')).toBe('ok');
    expect(await verdict('/whole?x=one')).toBe('query all/x must be integer');
    expect(await verdict('/whole')).toBe('query all is required');
    expect(await verdict('/whole-json?%7B%22x%22:1%7D')).toBe('ok');
    expect(await verdict('/whole-json?%7B%22x%22:%22%22%7D')).toBe('query all/x must be integer');
    expect(await verdict('/whole-json?x')).toBe('query all is not valid JSON in UTF-8');
  });

  it('takes reserved characters as they are, and encoded', async () => {
    expect(await verdict('/reserved?p=a/b?c:d')).toBe('ok');
    expect(await verdict('/reserved?p=a%2Fb%3Fc%3Ad')).toBe('ok');
    expect(await verdict('/reserved?p=a/b?c:d@e,f;g')).toBe('query p must NOT have more than 12 characters');
  });

  it('lets an empty value pass where it is allowed, and an absent one where it is optional', async () => {
    expect(await verdict('/empty?p=')).toBe('ok');
    expect(await verdict('/empty?p=1')).toBe('ok');
    expect(await verdict('/empty?p=x')).toBe('query p must be integer');
    expect(await verdict('/empty')).toBe('query p is required');
    expect(await verdict('/empty?p=&p=x')).toBe('query p is not written in style "form", or badly encoded');
    expect(await verdict('/default?p=')).toBe('query p must be integer');
  });

  it.each(['/form-list?p=1&p=x', '/form-object?x=1&x=y', '/content?p=%7B%22x%22:1%7D&p=1', '/pipe?p=1&p=x'])(
    'refuses what is given twice, and of which an upstream could take either: %s',
    async (target) => {
      expect(await verdict(target)).toBe(
        `query p is not written in style "${target.startsWith('/pipe') ? 'pipeDelimited' : 'form'}", or badly encoded`,
      );
    },
  );

  it('names dropped headers at warn in dev mode', async () => {
    expect(await verdict('/form', { 'x-nobody-declared': '1', 'x-auth-consumer': 'me' })).toBe('ok');
    await gw.logged(({ level, msg, headers }) => {
      const names: unknown[] = Array.isArray(headers) ? headers : [];
      const named = names.includes('x-nobody-declared') && names.includes('x-auth-consumer');
      return level === 'warn' && msg === 'request headers dropped' && named;
    });
    expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('x-nobody-declared');
  });

  it('passes the query on as it came: defaults are not filled in', async () => {
    expect(await verdict('/default?other=%61+b')).toBe('ok');
    expect(upstream.seen.at(-1)?.url).toBe('/default?other=%61+b');
  });

  it('checks headers and cookies', async () => {
    expect(await verdict('/header', { 'x-p': '1, 2' })).toBe('ok');
    expect(await verdict('/header', { 'x-p': '1, x' })).toBe('header x-p/1 must be integer');
    expect(await verdict('/header')).toBe('header x-p is required');
    expect(await verdict('/cookie', { cookie: 'a=b; p=1' })).toBe('ok');
    expect(await verdict('/cookie', { cookie: 'a=b; p=x' })).toBe('cookie p must be integer');
    expect(await verdict('/cookie')).toBe('cookie p is required');
    expect(await verdict('/cookie-raw', { cookie: 'p=%41' })).toBe('ok');
    expect(await verdict('/cookie-raw', { cookie: 'p=%41%41' })).toBe('cookie p must NOT have more than 3 characters');
  });
});
