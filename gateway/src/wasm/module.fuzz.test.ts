/**
 * Modules that nobody wrote: made at random, or real ones with bytes changed. None crashes the process or hangs it, and
 * every call of one that loads ends within its budget. `npm run test:long -- gateway/src/wasm/module.fuzz.test.ts` makes
 * a hundred times as many.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { standaloneCapabilities } from '../../features/standalone.ts';
import { recordedExchange } from '../../sdk/testing/recorder.ts';
import { builtinPluginFolder } from '../plugins/builtin.ts';
import { plugin } from './binary/module-of.ts';
import { randomModule } from './binary/random-module.test-support.ts';
import { createPluginRuntime, PluginLoadError } from './index.ts';

const CPU_MS = 5;
/** A call is stopped when it looks at the clock past its limit; the slice that it is in counts two milliseconds at most. */
const MOST_SECONDS = (CPU_MS + 2) / 1000;

/** Seconds of CPU time that each call of the module took, by its own clock. */
async function callsOf(wasm: Uint8Array, count: number): Promise<number[]> {
  const seconds: number[] = [];
  const standalone = await standaloneCapabilities();
  const runtime = createPluginRuntime(
    {
      capabilities: standalone.capabilities,
      openUpstream: (url) => ({ name: url }),
      log: () => {},
      observe: () => (spent) => {
        seconds.push(spent);
      },
    },
    { cpuMs: CPU_MS },
  );
  try {
    const functions = { host_functions: ['host_log', 'host_rate_limit_take'] };
    const bound = await (await runtime.load(plugin({}, functions), wasm)).bind({ allowed_origins: ['*'] });
    await Promise.all(Array.from({ length: count }, () => bound.onRequest(recordedExchange({}))));
    bound.close();
  } catch (error) {
    expect(error).toBeInstanceOf(PluginLoadError);
  } finally {
    runtime.close();
    standalone.close();
  }
  return seconds;
}

it('made at random: every call ends within its budget, several at once', async () => {
  let calls = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const seconds = await callsOf(randomModule(seed), 3);
      expect(seconds.length).toBe(3);
      for (const each of seconds) expect(each).toBeLessThanOrEqual(MOST_SECONDS);
      calls += seconds.length;
    }),
    propertyRuns(100),
  );
  expect(calls).toBeGreaterThan(0);
});

it.each(['cors', 'correlation-id'])(
  '%s with bytes changed: it is refused, or every call ends within its budget',
  async (name) => {
    const wasm = await readFile(join(builtinPluginFolder(name), `${name}.wasm`));
    const edits = fc.array(fc.tuple(fc.integer({ min: 200, max: wasm.length - 1 }), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    let calls = 0;
    await fc.assert(
      fc.asyncProperty(edits, async (changes) => {
        const mutant = new Uint8Array(wasm);
        for (const [at, byte] of changes) mutant[at] = byte;
        const seconds = await callsOf(mutant, 2);
        for (const each of seconds) expect(each).toBeLessThanOrEqual(MOST_SECONDS);
        calls += seconds.length;
      }),
      propertyRuns(100),
    );
    expect(calls).toBeGreaterThan(0);
  },
);

it.each(['cors', 'rate-limit'])(
  'made at random from the head of %s: bytes of any kind after it are refused',
  async (name) => {
    const wasm = await readFile(join(builtinPluginFolder(name), `${name}.wasm`));
    await fc.assert(
      fc.asyncProperty(fc.nat(wasm.length), fc.uint8Array({ maxLength: 2_000 }), async (length, tail) => {
        await callsOf(Buffer.concat([wasm.subarray(0, length), tail]), 1);
      }),
      propertyRuns(200),
    );
  },
);
