import type { ProjectPlugin } from '@gw/gateway/compiler';
import { describe, expect, it } from 'vitest';
import { type ApiSpec, apiSpecs, type GatewayProject, gatewayProjects, pluginRefs } from '../../../api/resources.ts';
import { takesSpec } from '../../api-spec/takes-spec.ts';
import { takesPlugin } from '../../plugin-ref/takes-plugin.ts';
import { gather, type PluginSource, type Sources, type SpecSource } from './decide.ts';

const project = (spec: object): GatewayProject =>
  gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default' },
    spec: { specs: { selector: {} }, ...spec },
  });
const apiSpec = (name: string, labels = {}): ApiSpec =>
  apiSpecs.parse({ metadata: { name, namespace: 'default', labels }, spec: { source: { inline: 'x' } } });
const plugin = (name: string, version = '1.0.0'): ProjectPlugin => ({
  name,
  wasm: new Uint8Array(),
  manifest: { name, version, type: 'middleware', host_functions: [], request_body: 'none', response_body: 'none' },
});

function spec(name: string, file = `${name}.yaml`): SpecSource {
  const files = [{ name: file, bytes: Buffer.from(name) }];
  return { apiSpec: apiSpec(name), read: { ok: true, document: { file, files, sha256: '' } } };
}

function ref(name: string, plugged: string, defaultConfig?: { readonly a: number }): PluginSource {
  const object = pluginRefs.parse({
    metadata: { name, namespace: 'default' },
    spec: { plugin: plugged, source: { builtin: {} } },
  });
  return {
    ref: object,
    read: {
      ok: true,
      sha256: '',
      plugin: { ...plugin(plugged, '2.0.0'), ...(defaultConfig ? { defaultConfig } : {}) },
    },
  };
}

const sources = (more: Partial<Sources> = {}): Sources => ({
  specs: [spec('a')],
  plugins: [],
  builtins: new Map([['mock', plugin('mock')]]),
  ...more,
});

describe('what is compiled', () => {
  it('is every document in a folder of its own, and every plugin with the configs of its levels', () => {
    const of = project({
      plugins: [
        { name: 'mock', config: { b: 2 } },
        { name: 'x', pluginRef: 'x-ref' },
      ],
    });
    const gathered = gather(
      of,
      sources({ specs: [spec('a', 'api.yaml'), spec('b', 'api.yaml')], plugins: [ref('x-ref', 'x', { a: 1 })] }),
    );
    if (!gathered.ok) throw new Error(JSON.stringify(gathered.problems));
    expect(gathered.inputs.specs).toEqual(['a/api.yaml', 'b/api.yaml']);
    expect(gathered.inputs.plugins.map(({ name, config, defaultConfig }) => ({ name, config, defaultConfig }))).toEqual(
      [
        { name: 'mock', config: { b: 2 }, defaultConfig: undefined },
        { name: 'x', config: undefined, defaultConfig: { a: 1 } },
      ],
    );
    expect(gathered.inputs.flags).toEqual({ production: true });
  });

  it('has the upstream MCP servers of the project', () => {
    const mcp = { upstreams: { wiki: { url: 'https://wiki.example/mcp' } } };
    const gathered = gather(project({ mcp }), sources());
    expect(gathered.ok && gathered.inputs.mcp).toEqual(mcp);
  });

  // docs/decisions.md#production-builds
  it('is no production build where plaintext is admitted', () => {
    const gathered = gather(project({ allowPlaintext: true }), sources());
    expect(gathered.ok && gathered.inputs.flags).toEqual({ allowPlaintext: true });
  });

  it('a PluginRef of the same plugin comes before the built-in one', () => {
    const gathered = gather(project({ plugins: [{ name: 'mock' }] }), sources({ plugins: [ref('mine', 'mock')] }));
    expect(gathered.ok && gathered.inputs.plugins[0]?.manifest?.version).toBe('2.0.0');
  });

  it.each([
    ['no ApiSpec', {}, { specs: [] }, 'NoSpecs'],
    ['an ApiSpec that is named and missing', { specs: { names: ['z'] } }, {}, 'SpecNotFound'],
    [
      'an ApiSpec without a document',
      {},
      { specs: [{ apiSpec: apiSpec('a'), read: { ok: false, reason: 'SourceNotFound', message: 'm' } }] },
      'SpecNotAccepted',
    ],
    ['a plugin that nobody gives', { plugins: [{ name: 'none' }] }, {}, 'PluginNotFound'],
    [
      'a PluginRef that is missing, though there is a built-in one',
      { plugins: [{ name: 'mock', pluginRef: 'z' }] },
      {},
      'PluginNotFound',
    ],
    ['another version', { plugins: [{ name: 'mock', version: '9.0.0' }] }, {}, 'PluginNotFound'],
    [
      'two PluginRefs of one plugin',
      { plugins: [{ name: 'x' }] },
      { plugins: [ref('p', 'x'), ref('q', 'x')] },
      'InvalidSpec',
    ],
    ['two selected PluginRefs of one plugin', {}, { plugins: [ref('p', 'x'), ref('q', 'x')] }, 'InvalidSpec'],
    [
      'a signing key that cannot be read',
      {},
      { signingKey: { ok: false, reason: 'SourceInvalid', message: 'm' } },
      'SourceInvalid',
    ],
  ] satisfies [string, object, Partial<Sources>, string][])('is nothing with %s', (_, with_, more, reason) => {
    const gathered = gather(project(with_), sources(more));
    expect(gathered.ok ? [] : gathered.problems.map((problem) => problem.reason)).toEqual([reason]);
  });
});

describe('what a project takes', () => {
  it.each([
    [{ names: ['books'] }, {}, true],
    [{ names: ['other'] }, {}, false],
    [{ selector: {} }, {}, true],
    [{ selector: { matchLabels: { app: 'shop' } } }, { app: 'shop' }, true],
    [{ selector: { matchLabels: { app: 'shop' } } }, {}, false],
    [{ selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] } }, { app: 'b' }, true],
    [{ selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }] } }, {}, true],
    [{ selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }, {}, false],
    [{ selector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } }, { app: 'a' }, false],
  ])('%j of labels %j: %s', (specs, labels, expected) => {
    expect(takesSpec(project({ specs }), apiSpec('books', labels))).toBe(expected);
  });

  it('PluginRefs that it names or selects', () => {
    const { ref: object } = ref('mine', 'x');
    expect(takesPlugin(project({}), object)).toBe(false);
    expect(takesPlugin(project({ plugins: [{ name: 'y', pluginRef: 'mine' }] }), object)).toBe(true);
    expect(takesPlugin(project({ pluginSelector: {} }), object)).toBe(true);
  });
});
