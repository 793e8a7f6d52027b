/** Metering keeps the meaning of what it admits, and stands whatever bytes it is given. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { standaloneCapabilities } from '../../features/standalone.ts';
import { builtinPluginFolder } from '../plugins/builtin.ts';
import { moduleOf, type Parts, plugin } from './binary/module-of.ts';
import { SHAPES } from './binary/module-shapes.ts';
import { randomModule } from './binary/random-module.test-support.ts';
import { rewriteModule } from './binary/rewrite.ts';
import { stepsBetweenLooks } from './binary/step-counter.test-support.ts';
import { createPluginRuntime, PluginLoadError, type PluginRuntime } from './index.ts';

let runtime: PluginRuntime;
beforeAll(async () => {
  runtime = createPluginRuntime({
    ...(await standaloneCapabilities()),
    openUpstream: (url) => ({ name: url }),
    log: () => {},
    observe: () => () => {},
  });
});
afterAll(() => runtime.close());

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

/** Instructions, those that metering adds with them: about a millisecond of the slowest code that browsers run at first. */
const MOST_STEPS = 1_000_000;

describe('between two looks at the clock', () => {
  it.each(SHAPES)('little runs of $name', ({ wasm, hook = 'on_request' }) => {
    const { bytes } = rewriteModule(wasm(), 16 << 20);
    expect(stepsBetweenLooks(bytes, hook, 40).most).toBeLessThan(MOST_STEPS);
  });

  it.each([
    ['a fill of 16 MiB', 25],
    ['data of 4 MiB, again and again', 100],
    ['copies of 8 MiB, forwards', 100],
    ['copies of 15 MiB, overlapping', 100],
    ['fills of 64 KiB in a straight line', 100],
    ['memory.grow by nothing', 100],
    ['memory that is touched for the first time', 25],
  ])('no more memory is filled or copied than a piece, in %s', (name, looks) => {
    const shape = SHAPES.find((each) => each.name === name);
    const { bytes } = rewriteModule(shape?.wasm() ?? moduleOf(), 16 << 20);
    expect(stepsBetweenLooks(bytes, 'on_request', 100).looks).toBeGreaterThanOrEqual(looks);
  });

  it('little runs of any module', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const { bytes } = rewriteModule(randomModule(seed), 16 << 20);
        expect(stepsBetweenLooks(bytes, 'on_request', 20).most).toBeLessThan(MOST_STEPS);
      }),
      propertyRuns(300),
    );
  });
});

describe('any bytes at all', () => {
  const folders = ['cors', 'mock', 'rate-limit'];

  it.each(folders)('made from %s load, or are refused with a PluginLoadError', async (name) => {
    const wasm = await readFile(join(builtinPluginFolder(name), `${name}.wasm`));
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
      propertyRuns(600),
    );
    expect(loaded).toBeGreaterThan(0);
  });

  it('of a plugin that loads run to an end', async () => {
    const wasm = await readFile(join(builtinPluginFolder('cors'), 'cors.wasm'));
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
      propertyRuns(60),
    );
  });
});
