/** What serving would refuse does not compile (docs/decisions.md#compiling-loads-modules). */
import { describe, expect, it } from 'vitest';
import { DISPATCHER_WASM, fakePlugins, MIDDLEWARE_WASM } from '../../../../test/fixtures/specs/plugins.ts';
import { moduleOf, type Parts } from '../../wasm/binary/module-of.ts';
import { compile, type PluginManifest, type ProjectPlugin } from '../index.ts';

const spec = (config: object) =>
  Buffer.from(
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'x', version: '1' },
      paths: {
        '/a': {
          get: { 'x-gw-middlewares': [{ name: 'tried', config }], 'x-gw-dispatch': { name: 'mock' } },
        },
      },
    }),
  );

function manifest(more: Partial<PluginManifest> = {}): PluginManifest {
  return {
    name: 'tried',
    version: '1.0.0',
    type: 'middleware',
    host_functions: [],
    request_body: 'none',
    response_body: 'none',
    ...more,
  };
}

/** Compiled as a plugin that one operation uses, unless it is `idle`. */
async function compiled(tried: Omit<ProjectPlugin, 'name'>, { config = {}, idle = false } = {}) {
  const plugins = [...fakePlugins, { name: 'tried', ...tried }];
  const bytes = idle ? Buffer.from(spec(config).toString().replace('"name":"tried"', '"name":"cors"')) : spec(config);
  const files = [{ name: 'a.json', bytes }];
  const result = await compile({ specs: ['a.json'], files, plugins, flags: {} });
  const errors = result.diagnostics.filter(({ severity }) => severity === 'error');
  return { errors, manifest: result.ok ? result.manifest : null };
}

const HOOKS: Parts['functions'] = [
  ['init', 0],
  ['on_request', 0],
];
const importing = (name: string, type: number) => moduleOf({ imports: [['gw_abi_1', name, type]], functions: HOOKS });
/** `init` of this code, and a hook that does nothing. */
const starting = (code: readonly number[]) =>
  moduleOf({
    functions: [
      ['init', 0, code],
      ['on_request', 0],
    ],
  });
const ENDLESS = starting([3, 0x40, 0x0c, 0, 0x0b, 0, 0x0b]);
const REFUSING = starting([0x41, 1, 0x0b]);

interface Refused {
  readonly what: string;
  readonly message: RegExp;
  readonly wasm: Uint8Array;
  readonly more?: Partial<PluginManifest>;
}

const refused: readonly Refused[] = (
  [
    [
      'what it does not declare',
      /imports gw_abi_1\.host_request_raw, which its plugin\.toml/,
      importing('host_request_raw', 6),
    ],
    [
      'what no gateway has',
      /imports gw_abi_1\.host_nothing, which this gateway does not have/,
      importing('host_nothing', 1),
    ],
    [
      'WASI',
      /imports wasi_snapshot_preview1\.fd_write: plugins import from gw_abi_1 only/,
      moduleOf({ imports: [['wasi_snapshot_preview1', 'fd_write', 6]], functions: HOOKS }),
    ],
    [
      'a start section',
      /start section: export the function as `_initialize`/,
      moduleOf({ functions: [...HOOKS, ['s', 2]], sections: [[8, [2]]] }),
    ],
    ['garbage', /not a WebAssembly module/, Buffer.from('#!/bin/sh')],
    [
      'a small module that is costly to compile',
      /too complex to compile: more than 4000000 locals and values/,
      moduleOf({
        functions: HOOKS,
        locals: [1, 0x88, 0x27, 0x7f],
        code: [...Array(20_000).fill([0x03, 0x40, 0x0b]).flat(), 0x41, 0, 0x0b],
      }),
    ],
    ['a dispatcher that says it is none', /is a middleware and exports dispatch/, DISPATCHER_WASM],
    [
      'a capability that does not exist',
      /declares the host function host_time_travel/,
      MIDDLEWARE_WASM,
      { host_functions: ['host_time_travel'] },
    ],
  ] as const
).map(([what, message, wasm, more = {}]) => ({ what, message, wasm, more }));

describe('a module that serving would refuse is E1042', () => {
  it.each(refused)('for $what, used or not', async ({ message, wasm, more = {} }) => {
    for (const idle of [false, true]) {
      const { errors } = await compiled({ wasm, manifest: manifest(more) }, { idle });
      expect(errors).toMatchObject([{ code: 'E1042', message: expect.stringMatching(message) }]);
      expect(errors[0]?.message).toMatch(/^plugin "tried"/);
    }
  });

  it('for an init without end, whatever its config refers to', async () => {
    for (const config of [{}, { key: 'env://KEY' }]) {
      const { errors } = await compiled({ wasm: ENDLESS, manifest: manifest() }, { config });
      expect(errors).toMatchObject([{ code: 'E1042', file: 'a.json', message: expect.stringMatching(/CPU time/) }]);
    }
  });

  it('for a config that init refuses, at the operation that gives it; not where it is not known yet', async () => {
    const { errors } = await compiled({ wasm: REFUSING, manifest: manifest() }, { config: { a: 1 } });
    expect(errors).toMatchObject([
      {
        code: 'E1042',
        pointer: '/paths/~1a/get/x-gw-middlewares/0',
        message: expect.stringMatching(/rejects its config/),
      },
    ]);
    const later = await compiled(
      { wasm: REFUSING, manifest: manifest() },
      { config: { list: [{ key: 'env://KEY' }] } },
    );
    expect(later.errors).toEqual([]);
  });

  it('for a plugin.toml of another name', async () => {
    const { errors } = await compiled({ wasm: MIDDLEWARE_WASM, manifest: manifest({ name: 'other' }) });
    expect(errors).toMatchObject([{ code: 'E1042', message: 'plugin "tried": its plugin.toml is that of "other"' }]);
  });
});

describe('a module without plugin.toml', () => {
  it('gets what is always there', async () => {
    const { errors, manifest: artifact } = await compiled({ wasm: importing('request_get', 5) });
    expect(errors).toEqual([]);
    expect(artifact?.plugins?.find(({ name }) => name === 'tried')?.capabilities).toEqual({
      body_access: false,
      host_functions: [],
      request_body: 'none',
      response_body: 'none',
    });
  });

  it.each([
    ['host_request_raw', 6],
    ['host_log', 1],
    ['request_body_set', 3],
  ])('does not get %s', async (name, type) => {
    const { errors } = await compiled({ wasm: importing(name, type) });
    expect(errors).toMatchObject([{ code: 'E1042', message: expect.stringContaining(`imports gw_abi_1.${name}`) }]);
  });
});
