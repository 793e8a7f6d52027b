/** What changes for agents (docs/mcp.md). */
import { expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile } from '../compiler/index.ts';
import { diffArtifacts } from './artifacts.ts';

async function artifactOf(paths: object, mcp: object, upstreams: object = {}) {
  const document = { openapi: '3.1.0', info: { title: 'Books', version: '1' }, 'x-gw-mcp': mcp, paths };
  const files = [{ name: 'api.json', bytes: Buffer.from(JSON.stringify(document)) }];
  const result = await compile({
    specs: ['api.json'],
    files,
    plugins: fakePlugins,
    flags: {},
    mcp: { upstreams } as never,
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return readArtifact(result.artifact);
}

async function toolChanges(before: readonly [object, object], after: readonly [object, object]) {
  const changes = diffArtifacts(await artifactOf(...before), await artifactOf(...after));
  return changes
    .filter(({ subject }) => subject.startsWith('tool ') || subject === 'mcp')
    .map(({ subject, breaking, message }) => `${breaking ? '!' : ' '} ${subject}: ${message}`);
}

const on = { enabled: true };
const query = (name: string, required: boolean, type = 'string', more: object = {}) => {
  return { name, in: 'query', required, schema: { type }, ...more };
};
const operation = (operationId: string, parameters: readonly object[], more: object = {}) => ({
  operationId,
  parameters,
  'x-gw-dispatch': { name: 'mock' },
  ...more,
});

it('of the same artifact is nothing', async () => {
  const paths = { '/books': { get: operation('listBooks', [query('genre', false)]) } };
  expect(await toolChanges([paths, on], [paths, on])).toEqual([]);
});

it('is upstream MCP servers added, removed and set otherwise', async () => {
  const [own, first] = [{ '/books': { get: operation('may', []) } }, { '/a': { get: operation('first', []) } }];
  const at = (url: string) => ({ url: `https://${url}/mcp`, authorize: 'may' });
  const before = await artifactOf(own, on, { a: at('a'), b: at('b'), c: at('c') });
  const after = await artifactOf({ ...first, ...own }, on, { a: at('a'), b: at('other'), d: at('d') });
  const found = diffArtifacts(before, after).filter(({ subject }) => subject.startsWith('MCP upstream'));
  expect(found.map(({ subject, message, breaking }) => [subject, message, breaking])).toEqual(
    expect.arrayContaining([
      ['MCP upstream b', 'settings changed', false],
      ['MCP upstream c', 'removed', true],
      ['MCP upstream d', 'added', false],
    ]),
  );
  expect(found.length).toBe(3);
});

it('is tools added and removed, texts, annotations, arguments and answers', async () => {
  const schema = (type: string) => ({
    responses: { 200: { description: 'x', content: { 'application/json': { schema: { type } } } } },
  });
  const before = {
    '/books': {
      get: operation(
        'listBooks',
        [query('genre', false), query('limit', false, 'integer'), query('tag', false), query('year', true)],
        { summary: 'Books', ...schema('array') },
      ),
      delete: operation('deleteAll', []),
    },
  };
  const after = {
    '/books': {
      get: operation(
        'listBooks',
        [
          query('genre', true),
          query('limit', false, 'integer', { description: 'At most' }),
          query('shop', true),
          query('page', false),
          query('year', false),
        ],
        { summary: 'All books', 'x-gw-mcp': { annotations: { idempotent: false } }, ...schema('object') },
      ),
      post: operation('addBook', []),
    },
  };
  expect(await toolChanges([before, on], [after, { ...on, instructions: 'Be kind.' }])).toEqual([
    '  mcp: instructions added',
    '  tool addBook: added',
    '! tool deleteAll: removed',
    '! tool listBooks: argument genre is now required',
    '! tool listBooks: argument shop added, required',
    '! tool listBooks: argument tag removed',
    '  tool listBooks: argument page added',
    '  tool listBooks: argument year is no longer required',
    '  tool listBooks: description changed',
    '  tool listBooks: idempotentHint: true → false',
    '  tool listBooks: output schema changed',
    '  tool listBooks: schema of argument limit changed',
    '  tool listBooks: title changed',
  ]);
});

it('is the endpoint as a whole where one has none', async () => {
  const paths = { '/books': { get: operation('listBooks', []) } };
  expect(await toolChanges([paths, on], [paths, { enabled: false }])).toEqual(['! mcp: endpoint removed']);
});
