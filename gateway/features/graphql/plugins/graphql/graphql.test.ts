import { createHash } from 'node:crypto';
import { type HookRequest, type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

type Config = NonNullable<HookRequest['config']>;

const json = { 'content-type': 'application/json' };
const post = (body: unknown, config: Config = {}, more: HookRequest = {}) =>
  kit.onRequest({
    method: 'POST',
    headers: json,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    config,
    ...more,
  });
const get = (query: string, config: Config = {}, more: HookRequest = {}) =>
  kit.onRequest({ method: 'GET', path: `/graphql?${query}`, config, ...more });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** `continue`, or status and code of the refusal. */
async function verdict(asked: ReturnType<typeof post>): Promise<unknown> {
  const { outcome, problem } = await asked;
  return outcome === 'continue' ? outcome : [problem?.status, problem?.['code']];
}
const refused = (code: string, status = 400) => [status, code];

const chain = (count: number, inner: string) =>
  `{ ...f0 } ${Array.from({ length: count }, (_, i) => `fragment f${i} on T { ...f${i + 1} ...f${i + 1} }`).join(' ')} fragment f${count} on T { ${inner} }`;

describe('the limits of graphql', () => {
  it.each<[query: string, config: Config, code: string | null]>([
    ['{ a { b } }', { max_depth: 2 }, null],
    ['{ a { b { c } } }', { max_depth: 2 }, 'MAX_DEPTH_LIMIT'],
    ['{ a { ...f } } fragment f on T { b { ... on U { c } } }', { max_depth: 2 }, 'MAX_DEPTH_LIMIT'],
    ['{ a { ...f } } fragment f on T { b ... on U { c } }', { max_depth: 2 }, null],
    ['{ a b { c } }', { max_fields: 3 }, null],
    ['{ a b { c } d }', { max_fields: 3 }, 'MAX_FIELDS_LIMIT'],
    [chain(9, 'a'), { max_fields: 512, max_breadth: 512, max_root_fields: 512 }, null],
    [chain(9, 'a b'), { max_fields: 512, max_breadth: 5000, max_root_fields: 5000 }, 'MAX_FIELDS_LIMIT'],
    [chain(300, 'a'), { max_fields: 1_000_000, max_breadth: 1_000_000 }, 'MAX_FIELDS_LIMIT'],
    ['{ a { b c } d { e f } }', { max_breadth: 2 }, null],
    ['{ a { b ... { c ... { d } } } }', { max_breadth: 2 }, 'MAX_BREADTH_LIMIT'],
    ['{ a b }', { max_root_fields: 1 }, 'MAX_ROOT_FIELDS_LIMIT'],
    ['{ ...f } fragment f on Query { a b }', { max_root_fields: 1 }, 'MAX_ROOT_FIELDS_LIMIT'],
    ['{ x: a }', { max_aliases: 1 }, null],
    ['{ x: a ...f } fragment f on T { y: b }', { max_aliases: 1 }, 'MAX_ALIASES_LIMIT'],
    ['query @a { b @c }', { max_directives: 2 }, null],
    ['query @a { ...f @d } fragment f on T @e { b }', { max_directives: 2 }, 'MAX_DIRECTIVES_LIMIT'],
    ['query ($v: Int @a @b @c) { b(v: $v) }', { max_directives: 2 }, 'MAX_DIRECTIVES_LIMIT'],
    ['{ a b c }', { max_tokens: 4 }, 'GRAPHQL_PARSE_FAILED'],
    ['{ a } # comment', { max_document_bytes: 10 }, 'MAX_DOCUMENT_LIMIT'],
    ['{ __schema { types { name } } }', {}, 'INTROSPECTION_DISABLED'],
    ['{ x: __type(name: "T") { name } }', {}, 'INTROSPECTION_DISABLED'],
    ['{ ... @include(if: true) { ...f } } fragment f on Query { __schema { a } }', {}, 'INTROSPECTION_DISABLED'],
    ['{ a { __typename } }', {}, null],
    ['{ __schema { types { name } } }', { introspection: true }, null],
    ['mutation { a }', {}, null],
    ['subscription { a }', {}, 'OPERATION_NOT_ALLOWED'],
    ['subscription { a }', { operations: ['subscription'] }, null],
    ['mutation { a }', { operations: ['query'] }, 'OPERATION_NOT_ALLOWED'],
  ])('%s with %j: %s', async (query, config, code) => {
    expect(await verdict(post({ query }, config))).toEqual(code === null ? 'continue' : refused(code));
    expect(await verdict(post({ query }, config))).toEqual(code === null ? 'continue' : refused(code));
  });

  it.each([
    ['{ a', 'GRAPHQL_PARSE_FAILED'],
    ['', 'GRAPHQL_PARSE_FAILED'],
    ['{ a(b: "\ud800") }', 'BAD_REQUEST'],
    ['{ ...f }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{ a } fragment f on T { ...g }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{ ...f } fragment f on T { a { ...g } } fragment g on T { ...f }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{ ...f } fragment f on T { a } fragment f on T { b }', 'GRAPHQL_VALIDATION_FAILED'],
    ['query a { b } query a { c }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{ a } { b }', 'GRAPHQL_VALIDATION_FAILED'],
    ['fragment f on T { a }', 'GRAPHQL_VALIDATION_FAILED'],
    ['type T { a: Int } { a }', 'GRAPHQL_VALIDATION_FAILED'],
    [`${'{a'.repeat(100_000)}${'}'.repeat(100_000)}`, 'GRAPHQL_VALIDATION_FAILED'],
    [`${'{a'.repeat(5_000)}${'}'.repeat(5_000)}`, 'GRAPHQL_VALIDATION_FAILED'],
    [`{a(b:${'['.repeat(20_000)}`, 'GRAPHQL_VALIDATION_FAILED'],
    [`{a(b:${'{b:'.repeat(20_000)}`, 'GRAPHQL_VALIDATION_FAILED'],
    [`query ($a: ${'['.repeat(20_000)}`, 'GRAPHQL_VALIDATION_FAILED'],
    [`{a(b:"${'['.repeat(20_000)}")}`, null],
  ])('take no document that is none: %.60s', async (query, code) => {
    const wanted = code === null ? 'continue' : refused(code);
    const config = { max_tokens: 50_000, max_document_bytes: 1 << 20, max_body_bytes: 1 << 20 };
    expect(await verdict(post({ query }, config))).toEqual(wanted);
  });
});

describe('costs', () => {
  const cost = {
    max: 100,
    fields: { users: { cost: 5, list_size: 20 }, free: { cost: 0 }, search: { cost: 50 } },
  };
  it.each<[query: string, variables: object | null, passes: boolean]>([
    ['{ users { a b c d } }', null, true],
    ['{ users { a b c d e } }', null, false],
    ['{ users(first: 2) { a b c d e f g h } }', null, true],
    ['{ users(first: 10, last: 90) { a b } }', null, false],
    ['{ users(first: 0) { a b c d e } }', null, false],
    ['{ users(first: -1) { a b c d e } }', null, false],
    ['{ search } ', null, true],
    ['{ x: search y: search } ', null, true],
    ['{ x: search y: search z: a } ', null, false],
    ['{ ...f ...f } fragment f on T { search }', null, true],
    ['{ ...f ...f ...f } fragment f on T { search }', null, false],
    ['query ($n: Int) { users(first: $n) { a b } }', { n: 10 }, true],
    ['query ($n: Int) { users(first: $n) { a b } }', { n: 1000 }, false],
    ['query ($n: Int) { users(first: $n) { a b } }', { n: '1000' }, false],
    ['query ($n: Int) { users(first: $n) { free } }', { n: 1e308 }, true],
    ['query ($n: Int) { users(first: $n) { a b } }', { n: Number.MAX_VALUE }, false],
    ['query ($n: Int) { users(first: $n) { a b c d e } }', { n: null }, false],
    ['query ($n: Int = 1000) { users(first: $n) { a b } }', {}, false],
    ['query ($n: Int = 1000) { users(first: $n) { a b } }', { n: 1 }, true],
    ['query ($n: Int) { ...f } fragment f on Query { users(first: $n) { a b } }', { n: 1000 }, false],
    [`{ users(first: ${'9'.repeat(400)}) { free } }`, null, true],
    [`{ users(first: ${'9'.repeat(400)}) { a } }`, null, false],
    [`{ users { users { users { free } } } }`, null, false],
  ])('%.80s %j: %s', async (query, variables, passes) => {
    const wanted = passes ? 'continue' : refused('COST_ESTIMATED_TOO_EXPENSIVE');
    expect(await verdict(post({ query, variables }, { cost }))).toEqual(wanted);
    expect(await verdict(post({ query, variables }, { cost }))).toEqual(wanted);
  });

  it('of fields that an exponent of fragments has are above any limit', async () => {
    const config = { cost: { max: 1e9 }, max_fields: 1e6, max_breadth: 1e6, max_root_fields: 1e6 };
    expect(await verdict(post({ query: chain(19, 'a') }, config))).toEqual('continue');
    const most = { ...config, cost: { max: 500_000 } };
    expect(await verdict(post({ query: chain(19, 'a') }, most))).toEqual(refused('COST_ESTIMATED_TOO_EXPENSIVE'));
  });

  it('are those of all operations of a list', async () => {
    const config = { cost, max_batch: 3 };
    expect(await verdict(post([{ query: '{search}' }, { query: '{search}' }], config))).toEqual('continue');
    expect(await verdict(post([{ query: '{search}' }, { query: '{search a}' }], config))).toEqual(
      refused('COST_ESTIMATED_TOO_EXPENSIVE'),
    );
  });
});

describe('a request over HTTP', () => {
  const two = 'query a { b } mutation c { d }';
  it.each<[what: string, asked: () => ReturnType<typeof post>, wanted: unknown]>([
    ['the operation by its name', () => post({ query: two, operationName: 'c' }), 'continue'],
    ['no operation among several', () => post({ query: two }), refused('OPERATION_RESOLUTION_FAILURE')],
    ['an empty name', () => post({ query: two, operationName: '' }), refused('OPERATION_RESOLUTION_FAILURE')],
    ['an empty name for the only one', () => post({ query: '{a}', operationName: '' }), 'continue'],
    ['another name', () => post({ query: '{a}', operationName: 'b' }), refused('OPERATION_RESOLUTION_FAILURE')],
    ['nulls', () => post({ query: '{a}', operationName: null, variables: null, extensions: null }), 'continue'],
    ['no query', () => post({ variables: {} }), refused('BAD_REQUEST')],
    ['a query that is none', () => post({ query: 7 }), refused('BAD_REQUEST')],
    ['variables as text', () => post({ query: '{a}', variables: '{}' }), refused('BAD_REQUEST')],
    ['variables as a list', () => post({ query: '{a}', variables: [] }), refused('BAD_REQUEST')],
    ['another member', () => post({ query: '{a}', doc_id: '1' }), refused('BAD_REQUEST')],
    ['a member twice', () => post('{"query":"{a}","query":"{b}"}'), refused('BAD_REQUEST')],
    ['a member twice by an escape', () => post('{"query":"{a}","\\u0071uery":"{b}"}'), refused('BAD_REQUEST')],
    ['__proto__', () => post('{"__proto__":{"query":"{a}"}}'), refused('BAD_REQUEST')],
    ['no JSON', () => post('{a}'), refused('BAD_REQUEST')],
    ['text of JSON', () => post('"{a}"'), refused('BAD_REQUEST')],
    ['a list', () => post([{ query: '{a}' }]), refused('BATCHING_NOT_SUPPORTED')],
    ['a list that may be', () => post([{ query: '{a}' }, { query: '{b}' }], { max_batch: 2 }), 'continue'],
    ['a long list', () => post([1, 2, 3], { max_batch: 2 }), refused('BATCH_LIMIT_EXCEEDED')],
    ['an empty list', () => post([], { max_batch: 2 }), refused('BAD_REQUEST')],
    ['lists in a list', () => post([[{ query: '{a}' }]], { max_batch: 2 }), refused('BAD_REQUEST')],
    ['no body', () => kit.onRequest({ method: 'POST', headers: json }), refused('BAD_REQUEST')],
    ['a large body', () => post({ query: '{a}' }, { max_body_bytes: 8 }), refused('PAYLOAD_TOO_LARGE', 413)],
    ['a charset', () => post({ query: '{a}' }, {}, type('Application/JSON; charset="UTF-8"')), 'continue'],
    ['UTF-16', () => post({ query: '{a}' }, {}, type('application/json; charset=utf-16')), refused(MEDIA, 415)],
    ['a bare document', () => post('{a}', {}, type('application/graphql')), refused(MEDIA, 415)],
    ['a form', () => post('query={a}', {}, type('application/x-www-form-urlencoded')), refused(MEDIA, 415)],
    ['no type', () => post({ query: '{a}' }, {}, { headers: {} }), refused(MEDIA, 415)],
    ['a coding', () => post('…', {}, { headers: { ...json, 'content-encoding': 'gzip' } }), refused(MEDIA, 415)],
    ['PUT', () => post({ query: '{a}' }, {}, { method: 'PUT' }), refused('METHOD_NOT_ALLOWED', 405)],
    ['query in URL and body', () => post({ query: '{a}' }, {}, { path: '/?query={b}' }), refused('BAD_REQUEST')],
    ['variables in the URL', () => post({ query: '{a}' }, {}, { path: '/?%76ariables={}' }), refused('BAD_REQUEST')],
    ['another parameter', () => post({ query: '{a}' }, {}, { path: '/?tenant=7' }), 'continue'],
    ['GET', () => get('query=%7Ba%7D&operationName=&variables=%7B%7D&tenant=7'), 'continue'],
    ['GET, spaces as plus signs', () => get('query=query+q+%7Ba+b%7D&operationName=q'), 'continue'],
    ['GET without query', () => get('tenant=7'), refused('BAD_REQUEST')],
    ['GET with a body', () => get('query={a}', {}, { body: '{}', headers: json }), refused('BAD_REQUEST')],
    ['GET, a mutation', () => get('query=mutation{a}'), refused('METHOD_NOT_ALLOWED', 405)],
    ['GET, a subscription', () => get('query=subscription{a}', subscriptions), refused('METHOD_NOT_ALLOWED', 405)],
    ['GET, query twice', () => get('query={a}&query={b}'), refused('BAD_REQUEST')],
    ['GET, query twice by an escape', () => get('query={a}&%71uery={b}'), refused('BAD_REQUEST')],
    ['GET, Query beside', () => get('query={a}&Query={b}'), refused('BAD_REQUEST')],
    ['GET, query[] beside', () => get('query={a}&query[]={b}'), refused('BAD_REQUEST')],
    ['GET, query behind a semicolon', () => get('x=1;query={b}&query={a}'), refused('BAD_REQUEST')],
    ['GET, what is not UTF-8', () => get('query={a(b:"%ff")}'), refused('BAD_REQUEST')],
    ['GET, half an escape', () => get('query={a}&x=%'), refused('BAD_REQUEST')],
    ['GET, variables that are no JSON', () => get('query={a}&variables={a}'), refused('BAD_REQUEST')],
    ['GET, a variable twice', () => get('query={a}&variables={"a":1,"a":2}'), refused('BAD_REQUEST')],
  ])('%s', async (_, asked, wanted) => {
    expect(await verdict(asked())).toEqual(wanted);
  });

  it('goes on as it came', async () => {
    const body = '{ "query" : "{a}", "variables": {"n": 12345678901234567890} }';
    expect((await post(body)).requestBody).toBe(body);
  });

  it('says which methods there are', async () => {
    expect((await get('query=mutation{a}')).answer?.headers['allow']).toBe('POST');
    expect((await post({ query: '{a}' }, {}, { method: 'PUT' })).answer?.headers['allow']).toBe('GET, POST');
  });
});

const MEDIA = 'UNSUPPORTED_MEDIA_TYPE';
const subscriptions = { operations: ['subscription'] };
function type(value: string): HookRequest {
  return { headers: { 'content-type': value } };
}

describe('refusals', () => {
  it('are problem documents that clients of GraphQL can read', async () => {
    const { answer, problem } = await post({ query: '{a{b}}' }, { max_depth: 1 });
    const detail = 'Fields are nested more than 1 levels deep.';
    expect(answer?.headers['content-type']).toBe('application/problem+json');
    expect(problem).toEqual({
      type: 'urn:gw:error:validation-failed',
      title: 'Request validation failed',
      status: 400,
      detail,
      code: 'MAX_DEPTH_LIMIT',
      errors: [{ message: detail, extensions: { code: 'MAX_DEPTH_LIMIT' } }],
    });
  });

  it.each(['application/graphql-response+json', 'application/json, Application/GraphQL-Response+JSON;q=0.9'])(
    'are error responses of GraphQL to who accepts %s',
    async (accept) => {
      const { answer } = await post({ query: '{"' }, {}, { headers: { ...json, accept } });
      expect(answer?.status).toBe(400);
      expect(answer?.headers['content-type']).toBe('application/graphql-response+json');
      expect(JSON.parse(answer?.body ?? '')).toEqual({
        errors: [{ message: 'Syntax Error: Unterminated string.', extensions: { code: 'GRAPHQL_PARSE_FAILED' } }],
      });
    },
  );
});

describe('persisted documents', () => {
  const listed = 'query q($n: Int) { a(first: $n) }';
  const hash = sha256(listed);
  const persisted_documents = { documents: { [hash]: listed, 'shop/1': 'mutation { buy }' } };
  const config = { persisted_documents };
  const only = { persisted_documents: { ...persisted_documents, only: true } };
  const apq = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

  it.each<[what: string, asked: () => ReturnType<typeof post>, wanted: unknown]>([
    ['no document beside those listed', () => post({ query: '{ a }' }, only), refused('QUERY_NOT_IN_SAFELIST')],
    ['a listed document', () => post({ query: listed }, only), 'continue'],
    ['a listed document with its hash', () => post({ query: listed, extensions: apq(hash) }, only), 'continue'],
    ['another hash', () => post({ query: '{b}', extensions: apq(hash) }, config), refused('BAD_REQUEST')],
    ['any document where others may be sent', () => post({ query: '{ a }' }, config), 'continue'],
    ['documentId and query', () => post({ query: listed, documentId: hash }, config), refused('BAD_REQUEST')],
    ['documentId and id', () => post({ id: hash, documentId: hash }, config), refused('BAD_REQUEST')],
    ['an unknown id', () => post({ documentId: 'shop/2' }, config), refused('PERSISTED_QUERY_NOT_FOUND')],
    ['__proto__', () => post({ documentId: '__proto__' }, config), refused('PERSISTED_QUERY_NOT_FOUND')],
    ['an unknown hash', () => post({ extensions: apq(sha256('')) }, config), refused('PERSISTED_QUERY_NOT_FOUND')],
    ['any hash without a list', () => post({ extensions: apq(hash) }), refused('PERSISTED_QUERY_NOT_SUPPORTED')],
    ['a hash that is none', () => post({ extensions: apq('1') }, config), refused('BAD_REQUEST')],
    ['a mutation by GET', () => get('documentId=shop/1', config), refused('METHOD_NOT_ALLOWED', 405)],
  ])('%s', async (_, asked, wanted) => {
    expect(await verdict(asked())).toEqual(wanted);
  });

  it('says to clients of automatic persisted queries what they go by', async () => {
    const message = async (config: Config) => (await post({ extensions: apq(sha256('')) }, config)).problem?.['errors'];
    expect(await message(config)).toMatchObject([{ message: 'PersistedQueryNotFound' }]);
    expect(await message({})).toMatchObject([{ message: 'PersistedQueryNotSupported' }]);
  });

  it.each([
    { documentId: `sha256:${hash}` },
    { documentId: hash.toUpperCase() },
    { id: hash },
    { query: null, extensions: apq(hash) },
  ])('stand in the request that names them: %j', async (named) => {
    const { requestBody } = await post({ ...named, variables: { n: 1.5, s: 'é' } }, only);
    expect(JSON.parse(requestBody ?? '')).toEqual({ query: listed, variables: { n: 1.5, s: 'é' } });
  });

  it('stand beside what else was sent', async () => {
    const extensions = { ...apq(hash), trace: true };
    const { requestBody } = await post({ extensions, operationName: 'q' }, only);
    expect(JSON.parse(requestBody ?? '')).toEqual({ query: listed, operationName: 'q', extensions: { trace: true } });
    const batch = await post([{ documentId: hash }, { query: listed }], { ...only, max_batch: 2 });
    expect(JSON.parse(batch.requestBody ?? '')).toEqual([{ query: listed }, { query: listed }]);
  });

  it('stand in the URL of a GET', async () => {
    const extensions = encodeURIComponent(JSON.stringify({ ...apq(hash), trace: 1 }));
    const { query } = await get(`tenant=a%2Fb&extensions=${extensions}&variables=%7B%22n%22%3A1%7D`, only);
    expect(query?.startsWith('tenant=a%2Fb&variables=%7B%22n%22%3A1%7D&')).toBe(true);
    const sent = new URLSearchParams(query ?? '');
    expect([sent.get('query'), sent.get('extensions')]).toEqual([listed, '{"trace":1}']);
  });

  it('leave no identifier in the URL, however its name is written', async () => {
    const { query } = await get(`tenant=7&%64ocumentId=${hash}&id=&%71uery=`, only);
    expect([...new URLSearchParams(query ?? '').keys()]).toEqual(['tenant', 'query']);
  });

  it('are not sent with numbers that would be others', async () => {
    const body = `{"documentId":"${hash}","variables":{"n":12345678901234567890}}`;
    expect(await verdict(post(body, only))).toEqual(refused('BAD_REQUEST'));
  });

  it('are found to be wrong at load', async () => {
    const bind = (documents: Record<string, string>, more: Config = {}) =>
      kit.bind({ persisted_documents: { documents }, ...more });
    await expect(bind({ [hash]: '{ a }' })).rejects.toThrow(
      `is not the SHA-256 of its document, which is ${sha256('{ a }')}`,
    );
    await expect(bind({ a: '{ a' })).rejects.toThrow('persisted_documents: a would be refused: Syntax Error');
    await expect(bind({ a: '{ a { b } }' }, { max_depth: 1 })).rejects.toThrow('a would be refused: Fields are nested');
  });
});

describe('the config', () => {
  it.each([
    { max_depth: 0 },
    { max_depth: 201 },
    { operations: [] },
    { operations: ['all'] },
    { cost: {} },
    { cost: { max: 1, fields: { 'a.b': { cost: 1 } } } },
    { cost: { max: 1, fields: { a: {} } } },
    { persisted_documents: { only: true } },
    { schema: 'type Query { a: Int }' },
  ])('is refused: %j', async (bad: Config) => {
    await expect(kit.bind(bad)).rejects.toThrow(/schema/);
  });
});
