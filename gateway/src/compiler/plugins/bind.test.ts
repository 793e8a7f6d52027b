/** Plugin config: merging, references, upstreams, and the headers that it admits. */
import { describe, expect, it } from 'vitest';
import { fakePlugins } from '../../../../test/fixtures/specs/plugins.ts';
import type { JsonObject, Operation } from '../../artifact/format.ts';
import { readArtifact } from '../../artifact/read.ts';
import { loadBuiltinPlugin } from '../../plugins/builtin.ts';
import { compile, type Project, type ProjectPlugin } from '../index.ts';

const plugin = (name: string, more: Partial<ProjectPlugin> = {}): ProjectPlugin => {
  const found = fakePlugins.find((each) => each.name === name);
  if (!found) throw new Error(`no plugin ${name}`);
  return { ...found, ...more };
};

interface Given {
  readonly dispatch?: object;
  readonly middlewares?: readonly object[];
  readonly operation?: object;
  readonly schemes?: object;
  readonly project?: Partial<Project>;
}

async function run({
  dispatch = { name: 'mock' },
  middlewares = [],
  operation = {},
  schemes = {},
  project = {},
}: Given) {
  const document = {
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: { '/a': { get: { 'x-gw-dispatch': dispatch, 'x-gw-middlewares': middlewares, ...operation } } },
    components: { securitySchemes: schemes },
  };
  const files = [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }];
  const result = await compile({ specs: ['a.json'], files, plugins: fakePlugins, flags: {}, ...project });
  const codes = result.diagnostics.map(({ code }) => code);
  const first = result.ok ? (await readArtifact(result.artifact)).routes.operations[0] : undefined;
  const bundled = result.ok ? (result.manifest.plugins ?? []).map(({ name }) => name) : [];
  return { codes, bundled, operation: first as Operation, messages: result.diagnostics.map(({ message }) => message) };
}

describe('config', () => {
  // docs/decisions.md#one-project
  it('merges default, project and operation by property, and fills in defaults of the schema', async () => {
    const rateLimit = plugin('rate-limit', {
      defaultConfig: { quota: 1, window: 1 },
      config: { quota: 2, partition_key: 'all' },
    });
    const { operation } = await run({
      middlewares: [{ name: 'rate-limit', config: { window: 3 } }, { name: 'rate-limit' }],
      project: { plugins: [rateLimit, plugin('mock')] },
    });
    expect(operation.middlewares.map(({ config }) => config)).toEqual([
      { quota: 2, window: 3, partition_key: 'all' },
      { quota: 2, window: 1, partition_key: 'all' },
    ]);
    expect(operation.dispatch.config).toEqual({ status: 200, body: '' });
  });

  it('does not hold references to secrets against format, pattern and length', async () => {
    const { codes } = await run({
      dispatch: { name: 'http-upstream', config: { url: 'env://UPSTREAM_URL' } },
      middlewares: [{ name: 'apikey-auth', config: { keys: [{ id: 'me', key: 'env://K' }] } }],
      operation: { security: [{ key: [] }] },
      schemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    });
    expect(codes).toEqual([]);
  });

  it('holds them against other types', async () => {
    const { codes, messages } = await run({ dispatch: { name: 'mock', config: { status: 'env://STATUS' } } });
    expect(codes).toEqual(['E1030']);
    expect(messages).toEqual(['plugin "mock": "status" is a string: it must be a whole number']);
  });

  it('names what there is where a property is misspelt', async () => {
    const { messages } = await run({ dispatch: { name: 'mock', config: { stauts: 200 } } });
    expect(messages).toEqual([
      expect.stringMatching(/^plugin "mock": the config has no property "stauts" \(known: .*status/),
    ]);
  });

  it('refuses two instances in one chain that say the same where they must differ', async () => {
    const limit = (policy?: string) => ({
      name: 'rate-limit',
      config: { quota: 1, window: 1, ...(policy ? { policy_name: policy } : {}) },
    });
    const project = { plugins: [plugin('mock'), loadBuiltinPlugin('rate-limit')] };
    const { codes, messages } = await run({ middlewares: [limit(), limit('hour'), limit()], project });
    expect(codes).toEqual(['E1030']);
    expect(messages).toEqual(['plugin "rate-limit": another instance in this chain has policy_name "default", too']);
    expect((await run({ middlewares: [limit(), limit('hour')], project })).codes).toEqual([]);
  });

  // docs/decisions.md#plaintext-marked-urls
  it('puts the URL of a named upstream in, and holds it to the rule on plaintext', async () => {
    const given = (url: string): Given => ({
      dispatch: { name: 'http-upstream', config: { url: 'upstream://books' } },
      project: { upstreams: { books: { url } } },
    });
    expect((await run(given('https://books.example'))).operation.dispatch.config['url']).toBe('https://books.example');
    expect((await run(given('http://books.example'))).codes).toEqual(['E1031']);
    expect((await run(given('ws://books.example'))).codes).toEqual(['E1031']);
  });

  // docs/decisions.md#plaintext-marked-urls
  it('holds the URL of ws-upstream to its schemes, and to the rule on plaintext', async () => {
    const codes = async (url: string, flags = {}) => {
      const project = { plugins: [loadBuiltinPlugin('ws-upstream')], flags };
      return (await run({ dispatch: { name: 'ws-upstream', config: { url } }, project })).codes;
    };
    expect(await codes('wss://chat.example')).toEqual([]);
    expect(await codes('ws://chat.example')).toEqual(['E1031']);
    expect(await codes('ws://chat.example', { allowPlaintext: true })).toEqual([]);
    expect(await codes('https://chat.example')).toEqual(['E1030']);
  });

  it('says once that a named upstream is plaintext, however many operations use it', async () => {
    const operation = { 'x-gw-dispatch': { name: 'http-upstream', config: { url: 'upstream://books' } } };
    const document = {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      paths: { '/a': { get: operation, put: operation }, '/b': { get: operation } },
    };
    const { diagnostics } = await compile({
      specs: ['a.json'],
      files: [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(document)) }],
      plugins: fakePlugins,
      upstreams: { books: { url: 'http://books.example' } },
      flags: {},
    });
    expect(diagnostics.map(({ code, message, file }) => [code, message, file])).toEqual([
      ['E1031', 'upstream "books", http://books.example, is plaintext', undefined],
    ]);
  });

  // docs/decisions.md#app-upstream
  it('leaves the app of a sidecar to whoever serves, also in production, unless the project declares that name', async () => {
    const dispatch = { name: 'http-upstream', config: { url: 'upstream://app' } };
    const { codes, operation } = await run({ dispatch, project: { flags: { production: true } } });
    expect(codes.filter((code) => code !== 'E1071')).toEqual([]);
    expect(operation.dispatch.config['url']).toBe('upstream://app');
    const named = await run({ dispatch, project: { upstreams: { app: { url: 'https://app.example' } } } });
    expect(named.operation.dispatch.config['url']).toBe('https://app.example');
  });

  it.each([
    ['api.example', 'upstream "api.example" is not a URL'],
    ['api.example:8080/v1', 'upstream "api.example:8080/v1" is not a URL'],
    ['https:// api.example', 'upstream "https:// api.example" is not a URL'],
    ['https://me:secret@api.example/', 'plugin "http-upstream": https://api.example/ holds credentials in its URL'],
  ])('refuses the upstream %s, with which no gateway would start', async (url, message) => {
    const { codes, messages } = await run({ dispatch: { name: 'http-upstream', config: { url } } });
    expect(new Set(codes)).toEqual(new Set(['E1030']));
    expect(messages).toContain(message);
  });

  it('refuses credentials in URLs of the project, and where no plugin is known', async () => {
    const url = 'https://me:secret@api.example/';
    const upstreams = await run({ project: { upstreams: { books: { url } } } });
    expect(upstreams.messages).toContain('upstream "books": https://api.example/ holds credentials in its URL');
    const config = await run({ project: { plugins: [{ ...plugin('mock'), config: { a: [{ b: url }] } }] } });
    expect(config.messages).toContain('plugin "mock": https://api.example/ holds credentials in its URL');
    const unknown = await run({ dispatch: { name: 'other', config: { url } } });
    expect(unknown.messages).toContain('plugin "other": https://api.example/ holds credentials in its URL');
  });

  it('does not show credentials of a URL in a message', async () => {
    const url = 'http://me:secret@books.example';
    const { messages } = await run({ dispatch: { name: 'http-upstream', config: { url } } });
    expect(messages.join()).not.toContain('secret');
  });

  it('bundles the plugins that operations use, and no others', async () => {
    expect((await run({ project: { plugins: [plugin('mock'), plugin('cors')] } })).bundled).toEqual(['mock']);
  });
});

// docs/reference/gateway.md#header-admission
describe('admitted headers', () => {
  const admitted = async (given: Given) => (await run(given)).operation.admitted_headers;
  const parameter = (name: string, part = 'header') => ({ name, in: part, schema: { type: 'string' } });

  it('are those of parameters, and cookie for cookie parameters', async () => {
    const parameters = [
      parameter('X-Tenant'),
      parameter('Accept'),
      parameter('Authorization'),
      parameter('sid', 'cookie'),
    ];
    expect(await admitted({ operation: { parameters } })).toEqual(['cookie', 'x-tenant']);
  });

  it.each<[string, JsonObject, string[]]>([
    ['an API key in a header', { type: 'apiKey', in: 'header', name: 'X-Key' }, ['x-key']],
    ['an API key in a cookie', { type: 'apiKey', in: 'cookie', name: 'sid' }, ['cookie']],
    ['an API key in the query', { type: 'apiKey', in: 'query', name: 'key' }, []],
    ['http', { type: 'http', scheme: 'bearer' }, ['authorization']],
    ['oauth2', { type: 'oauth2', flows: {} }, ['authorization']],
    ['openIdConnect', { type: 'openIdConnect', openIdConnectUrl: 'https://x' }, ['authorization']],
  ])('are the credential header of %s', async (_, scheme, names) => {
    expect(await admitted({ operation: { security: [{ s: [] }] }, schemes: { s: scheme } })).toEqual(names);
  });

  it('are those that config names', async () => {
    const middlewares = [
      { name: 'cors', config: { vary: ['X-One', 'Accept', 'not a header'] } },
      { name: 'rate-limit', config: { quota: 1, window: 1, partition_key: 'header:X-Two' } },
    ];
    const body = '{{headers.X-Three}} and $request.header.X-Four and {{ headers.x-auth-consumer }}';
    expect(await admitted({ middlewares, dispatch: { name: 'mock', config: { body } } })).toEqual([
      ...['x-four', 'x-one', 'x-three', 'x-two'],
    ]);
  });

  it('never are authorization without a security requirement, whatever a plugin says', async () => {
    const greedy = plugin('cors');
    const manifest = greedy.manifest && {
      ...greedy.manifest,
      request_headers: ['auth*', 'Authorization', 'x-auth-*', 'x-ok'],
    };
    const plugins = [plugin('mock'), { ...greedy, ...(manifest ? { manifest } : {}) }];
    expect(await admitted({ middlewares: [{ name: 'cors' }], project: { plugins } })).toEqual(['x-ok']);
  });
});
