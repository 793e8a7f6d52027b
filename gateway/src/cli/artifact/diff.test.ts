import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../test/cli/captured-run.ts';
import { fakePlugins } from '../../../../test/fixtures/specs/plugins.ts';
import { compile } from '../../compiler/index.ts';
import { diffCommand } from './diff.ts';

let folder: string;
const at = (name: string) => join(folder, name);

const dispatch = { 'x-gw-dispatch': { name: 'mock' } };
const book = (properties: object) => ({
  required: true,
  content: { 'application/json': { schema: { type: 'object', properties } } },
});
const answers = (schema: object) => ({ 200: { description: 'x', content: { 'application/json': { schema } } } });

const OLD = {
  '/books': {
    get: {
      parameters: [
        { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } },
        { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
      ],
      responses: answers({ type: 'object', required: ['id'] }),
      'x-gw-validate-response': 'enforce',
      ...dispatch,
    },
    post: { requestBody: book({ title: { type: 'string', maxLength: 200 } }), ...dispatch },
  },
  '/books/{id}': {
    delete: { parameters: [{ name: 'id', in: 'path', required: true }], ...dispatch },
    get: { parameters: [{ name: 'id', in: 'path', required: true }], ...dispatch },
  },
};
const NEW = {
  '/books': {
    get: {
      parameters: [
        { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 50 } },
        { name: 'page', in: 'query', schema: { type: 'integer' } },
        { name: 'tenant', in: 'query', required: true, schema: { type: 'string' } },
      ],
      responses: answers({ type: 'object' }),
      'x-gw-validate-response': 'enforce',
      security: [{ key: [] }],
      'x-gw-middlewares': [{ name: 'apikey-auth', config: { keys: [{ id: 'a', key: 'planted-secret' }] } }],
      ...dispatch,
    },
    post: { requestBody: book({ title: { type: 'string', maxLength: 80 }, year: { type: 'integer' } }), ...dispatch },
  },
  '/books/{bookId}': {
    get: {
      parameters: [{ name: 'bookId', in: 'path', required: true }],
      'x-gw-dispatch': { name: 'mock', config: { body: 'planted-secret' } },
    },
    put: { parameters: [{ name: 'bookId', in: 'path', required: true }], ...dispatch },
  },
};

async function write(name: string, paths: object, version: string): Promise<void> {
  const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } };
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths, components: { securitySchemes } };
  const result = await compile({
    specs: ['books.json'],
    files: [{ name: 'books.json', bytes: Buffer.from(JSON.stringify(document)) }],
    plugins: fakePlugins.map((each) => (each.manifest ? { ...each, manifest: { ...each.manifest, version } } : each)),
    flags: {},
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  await writeFile(at(name), result.artifact);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-diff-'));
  await write('old.gwa', OLD, '1.0.0');
  await write('new.gwa', NEW, '1.1.0');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const gwDiff = (...args: string[]) => runCommand(diffCommand, args);

describe('gw diff', () => {
  it('lists what changes by route, and marks what breaks clients', async () => {
    const { code, stdout } = await gwDiff(at('old.gwa'), at('new.gwa'));
    expect(code).toBe(0);
    expect(stdout).toBe(`DELETE /books/{id}
  ! route removed
GET /books
  ! callers must authenticate: "apikey-auth" runs now
  ! header "x-trace" is dropped now
  ! parameter "limit" in query: maximum 100 → 50
  ! parameter "page" in query added, and its values are checked now
  ! parameter "tenant" in query added, and required
  ! response 200 (application/json): "id" is not required any more
    header "x-api-key" is admitted now
    middlewares: none → apikey-auth
    parameter "x-trace" in header is not declared any more
GET /books/{bookId}
    config of "mock" changed: /body
    path: /books/{id} → /books/{bookId}
POST /books
  ! request body (application/json) /title: maxLength 200 → 80
    request body (application/json) /year: added
PUT /books/{bookId}
    route added
plugin apikey-auth
    added, 1.1.0
plugin mock
    version: 1.0.0 → 1.1.0
8 breaking changes, 9 others
`);
  });

  const parameter = (name: string, more: object = {}) => ({ name, in: 'query', schema: { type: 'string' }, ...more });
  const path = { name: 'x', in: 'path', required: true, schema: { type: 'string' } };
  const answered = (...statuses: number[]) => ({
    responses: Object.fromEntries(statuses.map((status) => [status, { description: 'x' }])),
  });
  const chain = (...middlewares: object[]) => ({ 'x-gw-middlewares': middlewares });

  it.each<[string, object, object, string[]]>([
    [
      'a route that takes requests of another, and asks more of them',
      { '/a/{x}': { get: { parameters: [path], ...dispatch } } },
      {
        '/a/{x}': { get: { parameters: [path], ...dispatch } },
        '/a/me': { get: { parameters: [parameter('tenant', { required: true })], ...dispatch } },
      },
      ['GET /a/me: parameter "tenant" in query added, and required'],
    ],
    [
      'a route of its own, which asks what it wants',
      { '/a/{x}': { get: { parameters: [path], ...dispatch } } },
      {
        '/a/{x}': { get: { parameters: [path], ...dispatch } },
        '/b': { get: { parameters: [parameter('tenant', { required: true })], ...dispatch } },
      },
      [],
    ],
    [
      'a route that is gone, whose requests another one takes that refuses them',
      {
        '/a/{x}': { get: { parameters: [{ ...path, schema: { type: 'integer' } }], ...dispatch } },
        '/a/me': { get: dispatch },
      },
      { '/a/{x}': { get: { parameters: [{ ...path, schema: { type: 'integer' } }], ...dispatch } } },
      ['GET /a/me: parameter "x" in path added, and its values are checked now'],
    ],
    [
      'a route that is gone, whose requests another one takes as they are',
      { '/a/{x}': { get: { parameters: [path], ...dispatch } }, '/a/me': { get: dispatch } },
      { '/a/{x}': { get: { parameters: [path], ...dispatch } } },
      [],
    ],
    [
      'a parameter that any text fits',
      { '/a': { get: dispatch } },
      { '/a': { get: { parameters: [parameter('free')], ...dispatch } } },
      [],
    ],
    [
      'another status of success',
      { '/a': { post: { ...answered(200, 400), ...dispatch } } },
      { '/a': { post: { ...answered(201, 400, 429), ...dispatch } } },
      ['POST /a: success is answered with 201, too, which was not described'],
    ],
    [
      'cors that is gone',
      { '/a': { get: { ...chain({ name: 'cors' }), ...dispatch } } },
      { '/a': { get: dispatch } },
      ['GET /a: pages of other origins may not read answers: "cors" runs no more'],
    ],
    [
      'limits that are new',
      { '/a': { get: dispatch } },
      {
        '/a': {
          get: {
            ...chain({ name: 'rate-limit', config: { quota: 1, window: 60 } }),
            ...dispatch,
          },
        },
      },
      ['GET /a: "rate-limit" runs now, and may refuse what was accepted'],
    ],
    [
      'a HEAD that GET answers all the same',
      { '/a': { get: dispatch, head: dispatch } },
      { '/a': { get: dispatch } },
      [],
    ],
    [
      'a HEAD of its own that asks more than GET did',
      { '/a': { get: dispatch } },
      { '/a': { get: dispatch, head: { parameters: [parameter('t', { required: true })], ...dispatch } } },
      ['HEAD /a: parameter "t" in query added, and required'],
    ],
    [
      'one value to a list with it, and a bound that is written otherwise',
      {
        '/a': {
          get: {
            parameters: [
              parameter('c', { schema: { const: 'a' } }),
              parameter('n', { schema: { type: 'integer', minimum: 1 } }),
            ],
            ...dispatch,
          },
        },
      },
      {
        '/a': {
          get: {
            parameters: [
              parameter('c', { schema: { enum: ['a', 'b'] } }),
              parameter('n', { schema: { type: 'integer', exclusiveMinimum: 0 } }),
            ],
            ...dispatch,
          },
        },
      },
      [],
    ],
  ])('marks what breaks: %s', async (_what, before, after, expected) => {
    await write('before.gwa', before, '1.0.0');
    await write('after.gwa', after, '1.0.0');
    const { stdout } = await gwDiff(at('before.gwa'), at('after.gwa'), '--format', 'json');
    const { changes }: { changes: { subject: string; breaking: boolean; message: string }[] } = JSON.parse(stdout);
    expect(changes.flatMap(({ subject, breaking, message }) => (breaking ? [`${subject}: ${message}`] : []))).toEqual(
      expected,
    );
  });

  it('prints the same as JSON', async () => {
    const { stdout } = await gwDiff(at('old.gwa'), at('new.gwa'), '--format', 'json');
    const { breaking, changes } = JSON.parse(stdout);
    expect([breaking, changes.length]).toEqual([8, 17]);
    expect(changes[0]).toEqual({ subject: 'DELETE /books/{id}', breaking: true, message: 'route removed' });
  });

  it('exits with 1 for breaking changes where that is asked for, and with 0 where there are none', async () => {
    expect((await gwDiff('--exit-code', at('old.gwa'), at('new.gwa'))).code).toBe(1);
    expect(await gwDiff('--exit-code', at('old.gwa'), at('old.gwa'))).toEqual({
      code: 0,
      stdout: 'no changes\n',
      stderr: '',
    });
  });

  it('exits with 2 where an artifact cannot be read', async () => {
    expect(await gwDiff(at('old.gwa'), at('gone.gwa'))).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^gw diff: .*gone\.gwa/),
    });
  });
});
