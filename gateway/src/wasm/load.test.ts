/** What does not load, and how it is told. Modules are written as WebAssembly bytes by hand. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArtifactPlugin } from '../artifact/format.ts';
import { MemoryRateLimitStore } from '../state/memory-rate-limit-store.ts';
import { ByteWriter } from './binary/bytes.ts';
import { rewriteModule } from './binary/rewrite.ts';
import { createPluginRuntime, PluginLoadError, type PluginRuntime } from './index.ts';

let runtime: PluginRuntime;
beforeAll(() => {
  runtime = createPluginRuntime({
    rateLimits: new MemoryRateLimitStore(),
    openUpstream: (url) => {
      if (url.startsWith('http:')) throw new Error('plaintext upstreams are not allowed');
      return { name: url };
    },
    log: () => {},
    observe: () => () => {},
  });
});
afterAll(() => runtime.close());

function plugin(
  more: Partial<ArtifactPlugin> = {},
  capabilities: Partial<ArtifactPlugin['capabilities']> = {},
): ArtifactPlugin {
  return {
    name: 'x',
    version: '1.0.0',
    plugin_type: 'middleware',
    wasm_path: 'plugins/x.wasm',
    sha256: '',
    capabilities: {
      body_access: false,
      host_functions: [],
      request_body: 'none',
      response_body: 'none',
      ...capabilities,
    },
    ...more,
  };
}

/** Types of the modules below, by index. */
const types = [
  [0x60, 0, 1, 0x7f], // 0: () -> i32
  [0x60, 3, 0x7f, 0x7f, 0x7f, 0], // 1: (i32, i32, i32) -> ()
  [0x60, 0, 0], // 2: () -> ()
  [0x60, 2, 0x7f, 0x7f, 0], // 3: (i32, i32) -> ()
  [0x60, 1, 0x7f, 1, 0x7f], // 4: (i32) -> i32
];

interface Parts {
  /** Module and name of imported functions, and their type; default 1. */
  readonly imports?: readonly (readonly [string, string, type?: number])[];
  /** A raw import entry, after the functions. */
  readonly rawImport?: readonly number[];
  /** Exported functions, their types, and their code where it is not the one below. */
  readonly functions?: readonly (readonly [string, type: number, code?: readonly number[]])[];
  readonly memory?: readonly number[] | null;
  readonly exportMemory?: boolean;
  /** Body of every function of type 0. */
  readonly code?: readonly number[];
  /** Declarations of locals of every function. */
  readonly locals?: readonly number[];
  /** Further sections: id and content. */
  readonly sections?: readonly (readonly [number, readonly number[]])[];
}

/** A module of a few functions; by default a middleware that does nothing. */
function moduleOf(parts: Parts = {}): Uint8Array {
  const { imports = [], rawImport, locals = [0], memory = [0, 1], code = [0x41, 0, 0x0b] } = parts;
  const {
    functions = [
      ['init', 0],
      ['on_request', 0],
    ],
  } = parts;
  const raw = (bytes: readonly number[]) => new Uint8Array(bytes);
  const out = new ByteWriter().raw(raw([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  const section = (id: number, content: ByteWriter) => out.u8(id).block(content);
  const given = (id: number) => {
    for (const [at, content] of parts.sections ?? []) if (at === id) section(id, new ByteWriter().raw(raw(content)));
  };
  section(1, new ByteWriter().u32(types.length).raw(raw(types.flat())));
  const importSection = new ByteWriter().u32(imports.length + (rawImport ? 1 : 0));
  for (const [from, name, type = 1] of imports) importSection.name(from).name(name).u8(0).u32(type);
  section(2, rawImport ? importSection.raw(raw(rawImport)) : importSection);
  const typeIndices = new ByteWriter().u32(functions.length);
  for (const [, type] of functions) typeIndices.u32(type);
  section(3, typeIndices);
  given(4);
  if (memory) section(5, new ByteWriter().u32(1).raw(raw(memory)));
  given(6);
  const exported = memory !== null && parts.exportMemory !== false;
  const exports = new ByteWriter().u32(functions.length + (exported ? 1 : 0));
  for (const [index, [name]] of functions.entries())
    exports
      .name(name)
      .u8(0)
      .u32(imports.length + index);
  if (exported) exports.name('memory').u8(2).u32(0);
  section(7, exports);
  for (const id of [8, 9, 12]) given(id);
  const bodies = new ByteWriter().u32(functions.length);
  for (const [, type, own] of functions) {
    bodies.block(new ByteWriter().raw(raw(locals)).raw(raw(own ?? (type === 0 ? code : [0x0b]))));
  }
  section(10, bodies);
  given(11);
  return out.take();
}

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
    /declares the host function host_time_travel, which this gateway does not have: known are host_log/,
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
  ['a table that is too large', /too many tableElements/, { sections: [[4, [1, 0x70, 0, 0x80, 0x80, 8]]] }],
  ['garbage', /not a valid WebAssembly module/, { code: [0xff, 0x0b] }],
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

const OK = [0x41, 0, 0x0b];

/** Modules whose `init` returns 0 only if metering kept their meaning; AssemblyScript emits none of this. */
const admitted: readonly (readonly [string, Parts])[] = [
  // 5, counted down to 0 on the stack of a loop with a parameter.
  [
    'loops with parameters',
    { locals: [1, 1, 0x7f], code: [0x41, 5, 3, 4, 0x41, 0x7f, 0x6a, 0x22, 0, 0x20, 0, 0x0d, 0, 0x0b, 0x0b] },
  ],
  [
    'passive data',
    {
      code: [
        0x41, 0, 0x41, 0, 0x41, 4, 0xfc, 8, 0, 0, 0x41, 0, 0x28, 2, 0, 0x41, 0xe1, 0xc4, 0x8d, 0xa3, 6, 0x6b, 0x0b,
      ],
      sections: [
        [12, [1]],
        [11, [1, 1, 4, 0x61, 0x62, 0x63, 0x64]],
      ],
    },
  ],
  // init calls function 2 through the table, whose element is an expression.
  [
    'elements that are expressions',
    {
      functions: [
        ['init', 0, [0x41, 0, 0x11, 0, 0, 0x0b]],
        ['on_request', 0, [0, 0x0b]],
        ['f', 0, OK],
      ],
      sections: [
        [4, [1, 0x70, 0, 1]],
        [9, [1, 4, 0x41, 0, 0x0b, 1, 0xd2, 2, 0x0b]],
      ],
    },
  ],
  [
    'elements that are indices, beside declared ones',
    {
      functions: [
        ['init', 0, [0xd2, 2, 0x1a, 0x41, 0, 0x11, 0, 0, 0x0b]],
        ['on_request', 0, [0, 0x0b]],
        ['f', 0, OK],
      ],
      sections: [
        [4, [1, 0x70, 0, 1]],
        [9, [2, 0, 0x41, 0, 0x0b, 1, 2, 3, 0, 1, 2]],
      ],
    },
  ],
  ['constant references to functions', { sections: [[6, [1, 0x70, 0, 0xd2, 1, 0x0b]]] }],
  [
    'tail calls',
    {
      functions: [
        ['init', 0, [0x12, 2, 0x0b]],
        ['on_request', 0, [0, 0x0b]],
        ['f', 0, OK],
      ],
    },
  ],
  [
    'mutable globals of every number type',
    {
      sections: [
        [
          6,
          [
            4, 0x7f, 1, 0x41, 1, 0x0b, 0x7e, 1, 0x42, 2, 0x0b, 0x7d, 1, 0x43, 0, 0, 0x80, 0x3f, 0x0b, 0x7c, 1, 0x44, 0,
            0, 0, 0, 0, 0, 0xf0, 0x3f, 0x0b,
          ],
        ],
      ],
    },
  ],
];

describe('what is admitted', () => {
  for (const [what, parts] of admitted) {
    it(`keeps its meaning: ${what}`, async () => {
      const bound = await (await runtime.load(plugin(), moduleOf(parts))).bind({});
      expect(bound.hasRequestHook).toBe(true);
    });
  }

  it('is stopped where it goes on for ever by tail calls', async () => {
    const module = await runtime.load(
      plugin(),
      moduleOf({
        functions: [
          ['init', 0, [0x12, 0, 0x0b]],
          ['on_request', 0],
        ],
      }),
    );
    await expect(module.bind({})).rejects.toThrow(/CPU time/);
  });
});

describe('any bytes at all', () => {
  const folders = ['cors', 'mock', 'rate-limit'];
  const runs = process.env['GW_TEST_LONG'] ? 20_000 : 600;

  it.each(folders)('made from %s load, or are refused with a PluginLoadError', async (name) => {
    const wasm = await readFile(join(import.meta.dirname, '..', '..', 'plugins', name, `${name}.wasm`));
    const edits = fc.array(fc.tuple(fc.nat(wasm.length - 1), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 6,
    });
    let loaded = 0;
    fc.assert(
      fc.property(edits, fc.option(fc.nat(wasm.length)), (changes, length) => {
        const mutant = new Uint8Array(length === null ? wasm : wasm.subarray(0, length));
        for (const [at, byte] of changes) if (at < mutant.length) mutant[at] = byte;
        try {
          const { bytes } = rewriteModule(mutant, 16 << 20);
          expect(WebAssembly.validate(bytes)).toBe(true);
          loaded++;
        } catch (error) {
          expect(error).toBeInstanceOf(PluginLoadError);
          // Whatever V8 takes for valid, and is within the ABI, we can meter.
          expect(String(error)).not.toMatch(/cannot be metered/);
        }
      }),
      { numRuns: runs },
    );
    expect(loaded).toBeGreaterThan(0);
  });

  it('of a plugin that loads run to an end', async () => {
    const wasm = await readFile(join(import.meta.dirname, '..', '..', 'plugins', 'cors', 'cors.wasm'));
    const edits = fc.array(fc.tuple(fc.integer({ min: 200, max: wasm.length - 1 }), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(edits, async (changes) => {
        const mutant = new Uint8Array(wasm);
        for (const [at, byte] of changes) mutant[at] = byte;
        try {
          const module = await runtime.load(plugin(), mutant);
          const bound = await module.bind({ allowed_origins: ['*'] });
          bound.close();
        } catch (error) {
          expect(error).toBeInstanceOf(PluginLoadError);
        }
      }),
      { numRuns: runs / 10 },
    );
  });
});
