/** graphql through a real `gw serve`, before an upstream that executes GraphQL (docs/reference/plugins.md#graphql). */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { buildSchema, graphql } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { h2, h2session } from '../../../../test/serve/http.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const schema = buildSchema(`
  type Book { id: ID! title: String! sequels(first: Int = 1): [Book!]! }
  type Query { book(id: ID!): Book books(first: Int): [Book!]! }
  type Mutation { rename(id: ID!, title: String!): Book }
`);

interface ResolvedBook {
  readonly id: string;
  readonly title: string;
  readonly sequels: (args: { first: number }) => readonly ResolvedBook[];
}
const book = (id: string): ResolvedBook => ({
  id,
  title: `Book ${id}`,
  sequels: ({ first }) => Array.from({ length: first }, (_, i) => book(`${id}.${i}`)),
});
const rootValue = {
  book: ({ id }: { id: string }) => book(id),
  books: ({ first }: { first?: number }) => Array.from({ length: first ?? 2 }, (_, i) => book(String(i))),
  rename: ({ id, title }: { id: string; title: string }) => ({ ...book(id), title }),
};

interface Asked {
  readonly query?: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

/** GraphQL over HTTP, as a plain server speaks it. */
function startGraphQL(): Promise<Upstream> {
  return startUpstream((request, response, body) => {
    const url = new URL(request.url ?? '', 'http://upstream');
    const one = request.method === 'GET' ? Object.fromEntries(url.searchParams) : JSON.parse(body);
    const run = ({ query = '', operationName = null, variables }: Asked) => {
      const variableValues = typeof variables === 'string' ? JSON.parse(variables) : variables;
      return graphql({ schema, rootValue, source: query, operationName, variableValues });
    };
    response.setHeader('content-type', 'application/graphql-response+json');
    void Promise.all((Array.isArray(one) ? one : [one]).map(run)).then((results) =>
      response.end(JSON.stringify(Array.isArray(one) ? results : results[0])),
    );
  });
}

/** An object that has itself, so many times. */
function within(levels: number): object {
  const value: object = JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  return value;
}

const LISTED = 'query Titles($n: Int) { books(first: $n) { title } }';
const answers = { 'application/json': {}, 'application/graphql-response+json': {} };

function document(url: string) {
  const operation = (config: object, before: object[] = []) => ({
    responses: { 200: { description: 'OK', content: answers } },
    'x-gw-middlewares': [...before, { name: 'graphql', config }],
    'x-gw-dispatch': { name: 'http-upstream', config: { url } },
  });
  const requestBody = { required: true, content: { 'application/json': { schema: { type: 'object' } } } };
  const cost = { max: 100, fields: { books: { list_size: 10 }, sequels: { list_size: 10 } } };
  const cors = { name: 'cors', config: { allowed_origins: ['https://shop.example'] } };
  const only = { persisted_documents: { documents: { titles: LISTED }, only: true } };
  return {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1' },
    paths: {
      '/graphql': {
        post: { ...operation({ max_depth: 3, max_batch: 2, cost }), requestBody: undefined },
        get: operation({}),
      },
      '/validated': { post: { ...operation({}, [cors]), requestBody } },
      '/trusted': { post: operation(only), get: operation(only) },
    },
  };
}

describe('graphql, through gw serve', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startGraphQL();
    gw = await startGateway(await compileSpec(document(upstream.url), ['graphql', 'http-upstream', 'cors']));
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  const json = { 'content-type': 'application/json' };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(gw.url + path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { ...json, ...headers },
    });
  const code = async (response: Response) => [response.status, (await jsonOf(response))['code']];
  const seenLast = () => upstream.seen.at(-1);

  it('lets operations within the limits pass, byte for byte', async () => {
    const body = '{ "query": "query B($id: ID!) { book(id: $id) { title } }",  "variables": {"id": 7} }';
    const answer = await post('/graphql', body);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/graphql-response+json']);
    expect(await jsonOf(answer)).toEqual({ data: { book: { title: 'Book 7' } } });
    expect(seenLast()?.body).toBe(body);
  });

  it('lets queries by GET pass, and answers mutations with 405', async () => {
    const ask = (query: string) => fetch(`${gw.url}/graphql?${new URLSearchParams({ query })}`);
    expect(await jsonOf(await ask('{ book(id: 1) { id } }'))).toEqual({ data: { book: { id: '1' } } });
    const seen = upstream.seen.length;
    const refused = await ask('mutation { rename(id: 1, title: "x") { id } }');
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
    expect(upstream.seen.length).toBe(seen);
  });

  it('answers lists of operations, as many as may be', async () => {
    const query = '{ book(id: 1) { id } }';
    expect(await jsonOf(await post('/graphql', [{ query }, { query }]))).toHaveLength(2);
    expect(await code(await post('/graphql', [{ query }, { query }, { query }]))).toEqual([
      400,
      'BATCH_LIMIT_EXCEEDED',
    ]);
  });

  const nested = '{ books { sequels { sequels { title } } } }';
  it.each<[what: string, body: unknown, wanted: unknown]>([
    ['depth', { query: nested }, [400, 'MAX_DEPTH_LIMIT']],
    ['cost', { query: '{ books { sequels { title } } }' }, [400, 'COST_ESTIMATED_TOO_EXPENSIVE']],
    ['the schema of a subgraph', { query: '{ _service { sdl } }' }, [400, 'INTROSPECTION_DISABLED']],
    ['variables within each other', { query: '{ books { id } }', variables: within(300) }, [400, 'BAD_REQUEST']],
    ['introspection', { query: '{ __schema { types { name } } }' }, [400, 'INTROSPECTION_DISABLED']],
    ['subscriptions', { query: 'subscription { a }' }, [400, 'OPERATION_NOT_ALLOWED']],
    ['two members', '{"query":"{a}","query":"{b}"}', [400, 'BAD_REQUEST']],
    ['nesting', { query: '{a'.repeat(20_000) }, [400, 'GRAPHQL_VALIDATION_FAILED']],
  ])('refuses what is above the limits, before the upstream: %s', async (_, body, wanted) => {
    const seen = upstream.seen.length;
    expect(await code(await post('/graphql', body))).toEqual(wanted);
    expect(upstream.seen.length).toBe(seen);
  });

  it('goes by variables where they say how much is asked for', async () => {
    const query = 'query ($n: Int) { books(first: $n) { sequels(first: $n) { title } } }';
    expect((await post('/graphql', { query, variables: { n: 2 } })).status).toBe(200);
    expect((await post('/graphql', { query, variables: { n: 200 } })).status).toBe(400);
    expect((await post('/graphql', { query, variables: { n: 2 } })).status).toBe(200);
  });

  it('works behind validation and before browsers', async () => {
    const headers = { origin: 'https://shop.example' };
    expect((await post('/validated', { query: '{ books { id } }' }, headers)).status).toBe(200);
    const refused = await post('/validated', { query: '{ books { id }' }, headers);
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(await code(refused)).toEqual([400, 'GRAPHQL_PARSE_FAILED']);
    expect((await post('/validated', '[]')).status).toBe(400);
  });

  it('answers clients that want GraphQL with it', async () => {
    const refused = await post('/graphql', { query: '{' }, { accept: 'application/graphql-response+json' });
    expect(refused.headers.get('content-type')).toBe('application/graphql-response+json');
    expect(Object.keys(await jsonOf(refused))).toEqual(['errors']);
  });

  it('sends the documents that are listed, and no others', async () => {
    const data = { data: { books: [{ title: 'Book 0' }] } };
    expect(await jsonOf(await post('/trusted', { documentId: 'titles', variables: { n: 1 } }))).toEqual(data);
    expect(JSON.parse(seenLast()?.body ?? '')).toEqual({ query: LISTED, variables: { n: 1 } });
    expect(Number(seenLast()?.headers['content-length'])).toBe(seenLast()?.body.length);
    expect(await jsonOf(await fetch(`${gw.url}/trusted?documentId=titles&variables={"n":1}`))).toEqual(data);
    expect((await post('/trusted', { query: LISTED })).status).toBe(200);
    expect(await code(await post('/trusted', { query: '{ books { id } }' }))).toEqual([400, 'QUERY_NOT_IN_SAFELIST']);
  });

  it('is the same over HTTP/2', async () => {
    const session = await h2session(gw.url);
    const body = JSON.stringify({ query: nested });
    const answer = await h2(session, { ':path': '/graphql', ':method': 'POST', ...json }, body);
    expect([answer.status, JSON.parse(answer.body)['code']]).toEqual([400, 'MAX_DEPTH_LIMIT']);
    session.close();
  });

  it('holds no instance for clients that send slowly or leave', async () => {
    const port = Number(new URL(gw.url).port);
    const count = async (metric: string) => (await scrape(gw.admin)).value(metric);
    const head =
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"query":';
    const sockets = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        await new Promise((resolve) => socket.write(head, resolve));
        return socket;
      }),
    );
    expect((await post('/graphql', { query: '{ books { id } }' })).status).toBe(200);
    await eventually(async () => (await count('gw_active_connections')) >= 8);
    expect(await count('gw_plugin_instances_busy')).toBe(0);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await count('gw_active_connections')) < 8);
  });

  it('compiles the examples of its README', async () => {
    const readme = readFileSync(join(import.meta.dirname, '../plugins/graphql/README.md'), 'utf8');
    const [whole, listed] = [...readme.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = '']) => parse(yaml));
    expect(await compileSpec({ ...Object(whole) }, ['graphql', 'http-upstream'])).toBeInstanceOf(Uint8Array);
    const trusted = document(upstream.url);
    Object.assign(trusted.paths['/trusted'].post, { 'x-gw-middlewares': listed });
    expect(await compileSpec(trusted, ['graphql', 'http-upstream', 'cors'])).toBeInstanceOf(Uint8Array);
  });

  it('does not compile with what it could not serve', async () => {
    const wrong = document(upstream.url);
    wrong.paths['/trusted'].post['x-gw-middlewares'] = [
      { name: 'graphql', config: { persisted_documents: { documents: { a: '{ a' } } } },
    ];
    await expect(compileSpec(wrong, ['graphql', 'http-upstream', 'cors'])).rejects.toThrow(/would be refused: Syntax/);
  });
});
