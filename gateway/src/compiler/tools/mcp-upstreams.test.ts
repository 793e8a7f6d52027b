/** `mcp.upstreams` of a project, as it is compiled (docs/mcp.md#upstreams). */
import { describe, expect, it } from 'vitest';
import { readArtifact } from '../../artifact/read.ts';
import { loadBuiltinPlugin } from '../../plugins/builtin.ts';
import { type CompileFlags, compile } from '../index.ts';

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  paths: {
    '/may': {
      post: { operationId: 'may', 'x-gw-dispatch': { name: 'mock' }, responses: { 204: { description: 'x' } } },
    },
    '/may/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      post: { operationId: 'mayOne', 'x-gw-dispatch': { name: 'mock' }, responses: { 204: { description: 'x' } } },
    },
  },
};

async function compiled(mcp: unknown, flags: CompileFlags = {}) {
  const bytes = Buffer.from(JSON.stringify(DOCUMENT));
  const files = [{ name: 'shop.json', bytes }];
  return compile(
    { specs: ['shop.json'], files, plugins: [loadBuiltinPlugin('mock')], flags, mcp: mcp as never },
    { loadsPlugins: false },
  );
}

const faults = async (settings: unknown, name = 'tools') =>
  (await compiled({ upstreams: { [name]: settings } })).diagnostics.map(({ code, message }) => `${code} ${message}`);

const url = 'https://tools.example.com/mcp';

it('an upstream enables the endpoint, with defaults and its settings in an order of their own', async () => {
  const upstreams = { 'my-tools': { url, headers: { b: '1', a: '2' }, authorize: 'may' }, all: { prefix: '', url } };
  const result = await compiled({ upstreams });
  expect(result.diagnostics).toEqual([]);
  if (!result.ok) return;
  const { tools, manifest } = await readArtifact(result.artifact);
  expect(manifest.mcp).toEqual({ enabled: true, server_name: 'Shop', server_version: '1' });
  expect(tools?.tools).toEqual([]);
  expect(tools?.upstreams).toEqual([
    { name: 'all', url, prefix: '', timeout: 60, refresh: 60, prompts: ['*'], resources: ['*'] },
    {
      name: 'my-tools',
      url,
      prefix: 'my_tools_',
      timeout: 60,
      refresh: 60,
      prompts: ['*'],
      resources: ['*'],
      headers: { a: '2', b: '1' },
      authorize: 0,
    },
  ]);
  const other = {
    upstreams: { all: { url, prefix: '' }, 'my-tools': { authorize: 'may', headers: { a: '2', b: '1' }, url } },
  };
  expect(await compiled(other)).toMatchObject({ artifactHash: result.artifactHash });
  const changed = { upstreams: { ...upstreams, all: { url } } };
  expect((await compiled(changed)) as { artifactHash?: string }).not.toMatchObject({
    artifactHash: result.artifactHash,
  });
});

describe('what does not hold is said by upstream', () => {
  it.each([
    ['no object', [], 'E1044 MCP upstream "tools": it is a list: it must be an object'],
    ['no URL', {}, 'E1044 MCP upstream "tools": the config has no "url", which is required'],
    ['a URL of another scheme', { url: 'ftp://x/' }, 'E1044 MCP upstream "tools": "url" must begin with https://'],
    ['credentials in the URL', { url: 'https://a:b@x/' }, '"url" holds credentials'],
    ['a fragment', { url: `${url}#a` }, '"url" has a fragment'],
    ['an unknown setting', { url, prefx: '' }, 'has no property "prefx" (known: allow, '],
    ['a prefix', { url, prefix: 'a b' }, '"prefix" must be letters, digits, _, . and -'],
    ['a pattern', { url, allow: ['a?'] }, '"allow/0" must be the name of a tool'],
    ['a digest', { url, pin: { a: 'md5' } }, '"pin/a" must be a digest'],
    ['a header of the gateway', { url, headers: { Accept: 'x' } }, 'header "accept" is the gateway\'s own'],
    ['a header of the transport', { url, headers: { 'Keep-Alive': 'x' } }, 'header "keep-alive" is the gateway\'s own'],
    ['a name of no header', { url, headers: { 'x y': 'x' } }, 'header "x y" has characters that headers cannot have'],
    ['a value of no header', { url, headers: { x: 'a\r\nb' } }, 'header "x" has characters that headers cannot have'],
    ['a header twice', { url, headers: { 'X-A': 'x', 'x-a': 'y' } }, 'header "x-a" is given twice'],
    [
      'two credentials',
      { url, forward_authorization: true, headers: { Authorization: 'env://A' } },

      '"forward_authorization" sends the Authorization of who calls',
    ],
    ['no such operation', { url, authorize: 'nobody' }, '"authorize" names no operation'],
    ['an operation with parameters', { url, authorize: 'mayOne' }, '"authorize" names POST /may/{id}'],
  ])('%s', async (_, settings, says) => {
    const found = await faults(settings);
    expect(found.length).toBeGreaterThan(0);
    expect(found.join('\n')).toContain(says);
    expect(found.every((each) => each.startsWith('E1044 '))).toBe(true);
  });

  it('a name', async () => {
    expect((await faults({ url }, 'My tools')).join()).toContain('its name must be in kebab-case');
  });

  it('all of it', async () => {
    expect((await compiled([])).diagnostics).toMatchObject([
      { code: 'E1044', message: '"mcp" is a list: it must be an object' },
    ]);
    expect((await compiled({ servers: {} })).diagnostics).toMatchObject([{ code: 'E1044' }]);
  });
});

describe('what is not safe', () => {
  const codes = async (settings: object, flags: CompileFlags = {}) =>
    (await compiled({ upstreams: { tools: settings } }, flags)).diagnostics.map(
      ({ code, severity }) => `${severity} ${code}`,
    );

  it('plaintext, unless it is allowed', async () => {
    const plain = { url: 'http://tools.example.com/mcp' };
    expect(await codes(plain)).toEqual(['error E1031']);
    expect(await codes(plain, { allowPlaintext: true })).toEqual([]);
    expect(await codes(plain, { allowPlaintext: true, production: true })).toEqual(['error E1031']);
  });

  it('a secret in plain text, and a credential that serves whoever asks', async () => {
    const open = { url, headers: { 'X-Api-Key': 'k', 'X-Tenant': 'acme' } };
    expect(await codes(open)).toEqual(['warning E1045', 'warning E1070']);
    expect(await codes({ url: `${url}?api_key=k&tenant=acme` })).toEqual(['warning E1070']);
    expect(await codes({ url, headers: { 'X-Api-Key': 'env://KEY' } }, { production: true })).toEqual(['error E1045']);
    expect(await codes({ url, headers: { 'X-Api-Key': 'env://KEY' }, authorize: 'may' }, { production: true })).toEqual(
      [],
    );
    expect(
      await codes({ url, headers: { 'X-Api-Key': 'env://KEY' }, forward_authorization: true }, { production: true }),
    ).toEqual([]);
  });
});
