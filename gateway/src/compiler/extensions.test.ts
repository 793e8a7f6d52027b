/**
 * The extensions of operations (docs/reference/gateway.md#extensions, docs/decisions.md#extension-places,
 * docs/decisions.md#no-dispatch-no-route, docs/decisions.md#plaintext-marked-urls).
 */
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { readArtifact } from '../artifact/read.ts';
import { compile, type ProjectPlugin } from './index.ts';

async function compiled(paths: object, plugins: readonly ProjectPlugin[] = fakePlugins) {
  const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths };
  const files = [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }];
  const result = await compile({ specs: ['a.json'], files, plugins, flags: {} });
  const found = result.diagnostics.map(({ code, pointer }) => `${code} ${pointer}`);
  if (!result.ok) return { found, manifest: null, operations: [] };
  return { found, manifest: result.manifest, operations: (await readArtifact(result.artifact)).routes.operations };
}

const dispatch = { 'x-gw-dispatch': { name: 'mock' } };

describe('x-sunset and x-deprecated-at', () => {
  it.each([
    ['2027-01-31', 'Sun, 31 Jan 2027 00:00:00 GMT'],
    ['2028-02-29', 'Tue, 29 Feb 2028 00:00:00 GMT'],
    ['2027-01-31T23:30:00Z', 'Sun, 31 Jan 2027 23:30:00 GMT'],
    ['2027-01-31T23:30:00.5-02:00', 'Mon, 01 Feb 2027 01:30:00 GMT'],
    ['Sun, 31 Jan 2027 23:59:59 GMT', 'Sun, 31 Jan 2027 23:59:59 GMT'],
  ])('%s is sent as %s', async (written, sent) => {
    const dates = { 'x-sunset': written, 'x-deprecated-at': written };
    const { found, operations } = await compiled({ '/a': { get: { ...dates, ...dispatch } } });
    const seconds = Math.floor(Date.parse(sent) / 1000);
    expect([found, operations[0]?.sunset, operations[0]?.deprecated_at]).toEqual([[], sent, seconds]);
  });

  it.each([
    '2027-02-29',
    '2027-02-29T00:00:00Z',
    'Mon, 31 Jan 2027 23:59:59 GMT',
    '2027',
    2027,
    '2027-01-31T25:00:00Z',
    '',
  ])('%j is no date: E1016', async (written) => {
    for (const extension of ['x-sunset', 'x-deprecated-at']) {
      const { found } = await compiled({ '/a': { get: { [extension]: written, ...dispatch } } });
      expect(found).toEqual([`E1016 /paths/~1a/get/${extension}`]);
    }
  });
});

// docs/decisions.md#extension-places
it('x-gw-mcp and x-gw-validate-response stand on operations, not on path items', async () => {
  const known = { 'x-gw-mcp': { enabled: false }, 'x-gw-validate-response': 'log', ...dispatch };
  expect((await compiled({ '/a': { get: known } })).found).toEqual([]);
  const misplaced = { '/a': { 'x-gw-validate-response': 'log', 'x-gw-mcp': {}, get: dispatch } };
  expect((await compiled(misplaced)).found).toEqual([
    'E1015 /paths/~1a/x-gw-mcp',
    'E1015 /paths/~1a/x-gw-validate-response',
  ]);
});

// docs/decisions.md#no-dispatch-no-route
it('an operation without x-gw-dispatch is no route, and not counted', async () => {
  const { found, manifest, operations } = await compiled({ '/a': { get: dispatch, post: {} }, '/b': { get: {} } });
  expect(found).toEqual(['E1020 /paths/~1a/post', 'E1020 /paths/~1b/get']);
  expect(manifest?.routes_count).toBe(1);
  expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /a']);
});

// docs/decisions.md#plaintext-marked-urls
it('plaintext is refused in every property that a schema marks as an upstream, of any plugin', async () => {
  const url = { type: 'string', 'x-gw-upstream': true };
  const plugins = fakePlugins.map((plugin) =>
    plugin.name === 'cors'
      ? {
          ...plugin,
          configSchema: {
            type: 'object',
            properties: { issuer: url, note: { type: 'string' }, all: { type: 'array', items: url } },
          },
        }
      : plugin,
  );
  const config = { issuer: 'http://a.example', note: 'http://b.example', all: ['https://c.example', 'ws://d.example'] };
  const { found } = await compiled(
    { '/a': { get: { 'x-gw-middlewares': [{ name: 'cors', config }], ...dispatch } } },
    plugins,
  );
  const at = '/paths/~1a/get/x-gw-middlewares/0/config';
  expect(found).toEqual([`E1031 ${at}/all/1`, `E1031 ${at}/issuer`]);
});
