/**
 * `node test/bench/plugin-gaps.ts [SECONDS] [NAME]`: how long a turn of the event loop takes at most while plugins of
 * many shapes use up their CPU time, at 1, 8 and 64 calls at once, beside another plugin's calls that wait for nothing.
 * Turns are measured in CPU time of the event loop's thread, so that what else the machine does counts for nothing.
 * p99 and the largest in milliseconds, and the largest as a ratio to that of a run without them just before.
 */
import { setImmediate as immediate } from 'node:timers/promises';
import { standaloneCapabilities } from '../../gateway/features/standalone.ts';
import { recordedExchange } from '../../gateway/sdk/testing/recorder.ts';
import { moduleOf, plugin } from '../../gateway/src/wasm/binary/module-of.ts';
import { SHAPES, type Shape } from '../../gateway/src/wasm/binary/module-shapes.ts';
import { type BoundPlugin, createPluginRuntime } from '../../gateway/src/wasm/index.ts';

const SECONDS = Number(process.argv[2] ?? 0.4);
const ONLY = process.argv[3] ?? '';
const AT_ONCE = [1, 8, 64];

const runtime = createPluginRuntime({
  ...(await standaloneCapabilities()),
  openUpstream: (url) => ({ name: url }),
  log: () => {},
  observe: () => () => {},
});

interface Gaps {
  readonly p99: number;
  readonly largest: number;
}

/** Milliseconds; counted more coarsely than the clock, by up to a millisecond. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Turns of the event loop while `count` calls are under way, each followed by the next. */
async function gapsBeside(count: number, run: () => Promise<unknown>, other: BoundPlugin): Promise<Gaps> {
  let going = true;
  const calls = Array.from({ length: count }, async () => {
    while (going) {
      await run();
      await immediate();
    }
  });
  const gaps: number[] = [];
  const until = performance.now() + SECONDS * 1000;
  for (let last = threadTime(); performance.now() < until; ) {
    await other.onRequest(recordedExchange({}));
    await immediate();
    const now = threadTime();
    gaps.push(now - last);
    last = now;
  }
  going = false;
  await Promise.all(calls);
  gaps.sort((a, b) => a - b);
  return { p99: gaps[Math.floor(gaps.length * 0.99)] ?? 0, largest: gaps.at(-1) ?? 0 };
}

async function bind({ plugin: of = plugin(), wasm }: Pick<Shape, 'plugin' | 'wasm'>): Promise<BoundPlugin> {
  return (await runtime.load(of, wasm())).bind({});
}

/** One call of the hook that the shape is about. It may fail: that is its own affair. */
async function callOf(bound: BoundPlugin, hook: Shape['hook']): Promise<unknown> {
  const exchange = recordedExchange({});
  if (hook === 'on_response') return bound.onResponse(exchange);
  if (hook === 'on_request_chunk') return bound.requestChunk(exchange, Buffer.alloc(1024)).catch(() => null);
  return bound.onRequest(exchange);
}

/** Of the largest ones: p99 of a quiet run is below what can be counted. */
function ratio(largest: number, quiet: number): string {
  return (largest / Math.max(quiet, 0.1)).toFixed(1).padStart(5);
}

function figures({ p99, largest }: Gaps, quiet: Gaps): string {
  const ms = `${p99.toFixed(1).padStart(6)} ${largest.toFixed(1).padStart(6)} ms`;
  return `${ms} (×${ratio(largest, quiet.largest)})`;
}

const other = await bind({ wasm: () => moduleOf() });
await gapsBeside(0, async () => {}, other); // until it is compiled
process.stdout.write(`p99 and largest gap at ${AT_ONCE.join(', ')} calls at once; ${SECONDS} s each\n`);
for (const shape of SHAPES.filter(({ name }) => name.includes(ONLY))) {
  const rows: string[] = [];
  for (const count of AT_ONCE) {
    const bound = await bind(shape);
    const quiet = await gapsBeside(0, async () => {}, other);
    rows.push(figures(await gapsBeside(count, () => callOf(bound, shape.hook), other), quiet));
    bound.close();
  }
  process.stdout.write(`${shape.name.padEnd(48)} ${rows.join('  ')}\n`);
}
runtime.close();
