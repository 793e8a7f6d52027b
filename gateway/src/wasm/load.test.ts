/** What does not load, and how it is told. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { standaloneCapabilities } from '../../features/standalone.ts';
import type { ArtifactPlugin } from '../artifact/format.ts';
import { moduleOf, type Parts, plugin } from './binary/module-of.ts';
import { createPluginRuntime, PluginLoadError, type PluginRuntime } from './index.ts';

let runtime: PluginRuntime;
beforeAll(async () => {
  runtime = createPluginRuntime({
    ...(await standaloneCapabilities()),
    openUpstream: (url) => {
      if (url.startsWith('http:')) throw new Error('plaintext upstreams are not allowed');
      return { name: url };
    },
    log: () => {},
    observe: () => () => {},
  });
});
afterAll(() => runtime.close());

const cases: readonly (readonly [string, RegExp, Parts, ArtifactPlugin?])[] = [
  [
    'an undeclared import',
    /imports gw_abi_1\.host_log, which its plugin\.toml does not declare: add it to \[capabilities\]\.host_functions/,
    { imports: [['gw_abi_1', 'host_log']] },
  ],
  [
    'an unknown import',
    /imports gw_abi_1\.host_nothing, which this gateway does not have/,
    { imports: [['gw_abi_1', 'host_nothing']] },
  ],
  [
    'another ABI version',
    /imports gw_abi_2\.host_log: that is ABI version 2, and this gateway speaks version 1/,
    { imports: [['gw_abi_2', 'host_log']] },
  ],
  ['imports from elsewhere', /imports env\.abort: plugins import from gw_abi_1 only/, { imports: [['env', 'abort']] }],
  [
    'an import of another type',
    /gw_abi_1\.request_get as \(\) -> i32: it is \(i32, i32, i32\) -> i32/,
    { imports: [['gw_abi_1', 'request_get', 0]] },
  ],
  [
    'a body that it does not declare',
    /request_body_set, which needs request_body = "buffer"/,
    { imports: [['gw_abi_1', 'request_body_set', 3]] },
  ],
  [
    'an unknown capability',
    /declares the host function host_time_travel, which this gateway does not have: known are .*host_log/,
    {},
    plugin({}, { host_functions: ['host_time_travel'] }),
  ],
  [
    'an imported memory',
    /imports the memory env\.memory/,
    { memory: null, rawImport: [3, 0x65, 0x6e, 0x76, 6, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 2, 0, 1] },
  ],
  ['an imported global', /imports the global env\.g/, { rawImport: [3, 0x65, 0x6e, 0x76, 1, 0x67, 3, 0x7f, 0] }],
  ['no memory', /must define exactly one memory/, { memory: null }],
  ['a memory that it keeps to itself', /does not export its memory/, { exportMemory: false }],
  ['a shared memory', /shared or 64-bit memory/, { memory: [3, 1, 2] }],
  ['a 64-bit memory', /shared or 64-bit memory/, { memory: [4, 1] }],
  ['too large a memory', /begins with 131072000 bytes of memory/, { memory: [0, 0xd0, 0x0f] }],
  ['no init', /does not export init/, { functions: [['on_request', 0]] }],
  ['no hook', /exports no hook/, { functions: [['init', 0]] }],
  [
    'a hook of another type',
    /exports init as \(\) -> \(\): it is \(\) -> i32/,
    {
      functions: [
        ['init', 2],
        ['on_request', 0],
      ],
    },
  ],
  [
    'a hook that is async, as Rust compiles it',
    /exports on_request as \(i32\) -> \(\): it is \(\) -> i32, and returns neither a structure nor a future\. There is nothing to await/,
    {
      functions: [
        ['init', 0],
        ['on_request', 9],
      ],
    },
  ],
  [
    'dispatch in a middleware',
    /is a middleware and exports dispatch/,
    {
      functions: [
        ['init', 0],
        ['dispatch', 0],
      ],
    },
  ],
  [
    'no dispatch in a dispatcher',
    /is a dispatcher and does not export dispatch/,
    { functions: [['init', 0]] },
    plugin({ plugin_type: 'dispatcher' }),
  ],
  [
    'hooks in a dispatcher',
    /exports on_request, which belong to middlewares/,
    {
      functions: [
        ['init', 0],
        ['dispatch', 0],
        ['on_request', 0],
      ],
    },
    plugin({ plugin_type: 'dispatcher' }),
  ],
  [
    'chunk hooks undeclared',
    /needs request_body = "stream"/,
    {
      functions: [
        ['init', 0],
        ['on_request_chunk', 0],
      ],
    },
  ],
  [
    'an end without chunks',
    /on_response_end without on_response_chunk/,
    {
      functions: [
        ['init', 0],
        ['on_request', 0],
        ['on_response_end', 0],
      ],
    },
  ],
  [
    'reserved export names',
    /exports "gw:enter": names that begin with "gw:"/,
    {
      functions: [
        ['init', 0],
        ['on_request', 0],
        ['gw:enter', 2],
      ],
    },
  ],
  [
    'a start section',
    /start section: export the function as `_initialize`/,
    {
      functions: [
        ['init', 0],
        ['on_request', 0],
        ['s', 2],
      ],
      sections: [[8, [2]]],
    },
  ],
  [
    'a mutable reference',
    /global 0 of the module is mutable and of type funcref/,
    { sections: [[6, [1, 0x70, 1, 0xd0, 0x70, 0x0b]]] },
  ],
  [
    'table.set',
    /changes a table at run time/,
    { sections: [[4, [1, 0x70, 0, 1]]], code: [0x41, 0, 0xd0, 0x70, 0x26, 0, 0x41, 0, 0x0b] },
  ],
  ['table.grow', /table\.grow/, { sections: [[4, [1, 0x70, 0, 1]]], code: [0xd0, 0x70, 0x41, 0, 0xfc, 15, 0, 0x0b] }],
  ['atomic instructions', /threads or atomic/, { code: [0xfe, 3, 0, 0x41, 0, 0x0b] }],
  ['garbage collection', /garbage-collected/, { code: [0x41, 0, 0xfb, 28, 0x1a, 0x41, 0, 0x0b] }],
  ['exceptions', /exceptions/, { code: [0x1f, 0x40, 0, 0x0b, 0x41, 0, 0x0b] }],
  ['code that is not valid', /not a valid WebAssembly module/, { code: [0x1a, 0x0b] }],
  [
    'a small module that is costly to compile',
    /a function of the module is too complex to compile: more than 4000000 locals and values on the stack, counted at each branch, block and call; split the function, or give it fewer locals/,
    { locals: [1, 0x88, 0x27, 0x7f], code: [...Array(500).fill([0x03, 0x40, 0x0b]).flat(), 0x41, 0, 0x0b] },
  ],
  ['a table that is too large', /too many tableElements/, { sections: [[4, [1, 0x70, 0, 0x80, 0x80, 8]]] }],
  ['garbage', /uses the unknown instruction 0xff/, { code: [0xff, 0x0b] }],
];

describe('loading', () => {
  for (const [what, message, parts, of = plugin()] of cases) {
    it(`refuses ${what}`, async () => {
      const wasm = moduleOf(parts);
      const error: unknown = await runtime.load(of, wasm).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(PluginLoadError);
      expect(String(error)).toMatch(message);
      expect(String(error)).toMatch(/plugin "x"/);
    });
  }

  it('takes a module that does nothing', async () => {
    const bound = await (await runtime.load(plugin(), moduleOf())).bind({});
    expect([bound.hasRequestHook, bound.hasResponseHook]).toEqual([true, false]);
  });

  it('names the property whose upstream is refused', async () => {
    const marked = plugin({ config_marks: { upstreams: ['/targets/*/url'] } });
    const module = await runtime.load(marked, moduleOf());
    await expect(module.bind({ targets: { a: { url: 'https://a' }, b: { url: 'http://b' } } })).rejects.toThrow(
      'plugin "x": config /targets/b/url: plaintext upstreams are not allowed',
    );
  });
});
