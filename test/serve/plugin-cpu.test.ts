/** Plugins that use up their CPU time, as clients of `gw serve` meet them: other routes are served meanwhile. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectPlugin } from '../../gateway/src/compiler/index.ts';
import { SHAPES } from '../../gateway/src/wasm/binary/module-shapes.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

/** Each goes on until its time is used up; what made it hard to stop, once, is in its name. */
const HOSTILE = [
  'an empty loop',
  'memory.grow by a page, then a loop',
  'memory that has grown, and a loop',
  'leaf calls in a loop',
  'a straight line of 500 KB in a loop',
  'recursion, and much after each call',
  'copies of 15 MiB, overlapping',
  'data of 4 MiB, again and again',
  'host calls in a loop',
];
/** Milliseconds of CPU: many times a slice, so that others would be seen to wait. */
const CPU_MS = 200;

const plugins: readonly ProjectPlugin[] = HOSTILE.map((shape, i) => {
  const found = SHAPES.find(({ name }) => name === shape);
  if (!found) throw new Error(`no shape "${shape}"`);
  const name = `shape-${i}`;
  const { host_functions = [], request_body = 'none', response_body = 'none' } = found.plugin?.capabilities ?? {};
  const manifest = { name, version: '1.0.0', type: 'middleware', host_functions, request_body, response_body } as const;
  return { name, wasm: found.wasm(), manifest, configSchema: { type: 'object' }, config: {} };
});

const operation = (...middlewares: readonly string[]) => ({
  get: {
    responses: { 200: { description: 'OK' } },
    'x-gw-middlewares': middlewares.map((name) => ({ name })),
    'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } },
  },
});
const document = {
  openapi: '3.1.0',
  info: { title: 'Shapes', version: '1' },
  paths: { '/others': operation(), ...Object.fromEntries(plugins.map(({ name }) => [`/${name}`, operation(name)])) },
};

describe('plugins that use up their CPU time', () => {
  let gw: Gateway;
  beforeAll(async () => {
    gw = await startGateway(await compileSpec(document, ['mock'], plugins), {
      args: ['--plugin-cpu-ms', String(CPU_MS)],
    });
  });
  afterAll(() => gw?.stop());

  const statusOf = async (path: string) => (await fetch(`${gw.url}${path}`)).status;

  it.each(plugins.map(({ name }, i) => [HOSTILE[i], name]))('by %s leave others served', async (_shape, name) => {
    let going = true;
    const hostile = statusOf(`/${name}`).finally(() => {
      going = false;
    });
    const others: number[] = [];
    while (going) others.push(await statusOf('/others'));
    expect(await hostile).toBe(500);
    expect(new Set(others)).toEqual(new Set([200]));
    expect(others.length).toBeGreaterThan(5);
  });

  it('all at once leave others served', async () => {
    let left = plugins.length;
    const hostile = plugins.map(({ name }) => statusOf(`/${name}`).finally(() => left--));
    const others: number[] = [];
    while (left === plugins.length) others.push(await statusOf('/others'));
    expect(others.length).toBeGreaterThan(5);
    while (left > 0) others.push(await statusOf('/others'));
    expect(new Set(others)).toEqual(new Set([200]));
    expect(new Set(await Promise.all(hostile))).toEqual(new Set([500]));
  });
});
