import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../features/metrics.ts';
import type { OptionTable } from '../options/option-table.ts';
import { SERVE_OPTIONS } from '../options/options.ts';
import { COUNTED_LIMITS } from '../telemetry/metric-table.ts';
import { SHARED_LIMITS, type SharedLimit } from './shared-limits.ts';

const OPTIONS: OptionTable = SERVE_OPTIONS;
const rows: readonly [string, SharedLimit][] = Object.entries(SHARED_LIMITS);
const GATEWAY = join(import.meta.dirname, '..', '..');
const source = (file: string) => readFileSync(join(GATEWAY, file), 'utf8');

/** What makes something that clients share, or may. */
const MAKERS =
  /new (BufferBudget|ItemsByOwner|InFlight|BoundedMap|ConnectionShares|InstanceCap|ShareTree|SharedMap|FairQueue|Checks|ValidationHelpers)\b|\$\{SHARES\}/;
/** Files that make such a thing of which clients share nothing, and why. */
const NOT_SHARED: Readonly<Record<string, string>> = {
  'src/memory/buffer-budget.ts': 'the mechanism',
  'src/client-network.ts': 'what an address is part of, which anybody can read again',
  'src/compiler/plugins/load-check.ts': 'modules of one compilation',
  'features/http/host/http-call/call-of-plugin.ts': 'servers that configs name',
  'features/brokers/host/nats/nats-connection.ts': 'subjects that configs name',
  'features/standalone.ts': 'a gateway without clients',
  'features/auth/host/tokens/issuer-tokens.ts': 'answers of issuers',
  'src/mcp/session-protocol.ts': 'levels of logs, of as many sessions as there are',
  'src/shares/fair-queue.ts': 'the mechanism',
  'src/shares/shared-map.ts': 'the mechanism',
  'src/wasm/runtime.ts': 'made of the limits of wasm/call/plugin.ts',
};

/** The numbers that a constant, a default or a member of this name has in a file. */
function valuesIn(file: string, name: string): number[] {
  const found = source(file).matchAll(new RegExp(`\\b${name}(?: =|:|'\\]?,) ([\\d_.]+)(?: << (\\d+))?\\b`, 'g'));
  return [...found].map(([, number = '', shift = '0']) => Number(number.replaceAll('_', '')) * 2 ** Number(shift));
}

describe('the table of limits that clients share', () => {
  it.each(rows)('%s has a most that the code or an option has', (_, { most, files }) => {
    if ('option' in most) expect(OPTIONS[most.option]).toMatchObject({ type: 'integer', default: expect.any(Number) });
    else expect(files.flatMap((file) => valuesIn(file, most.constant))).toContain(most.value);
  });

  it.each(rows)('%s names a metric that is there', (name, { metric }) => {
    for (const each of metric === null ? [] : [metric].flat()) expect(METRICS).toHaveProperty(each);
    const counted = COUNTED_LIMITS.some((each) => each === name);
    expect(metric === 'gw_shared_limit_yields_total').toBe(counted);
  });

  it('has every option that limits what clients share', () => {
    const shared = Object.entries(OPTIONS).filter(([, { limits }]) => /at once|^connections$/.test(limits ?? ''));
    const named = rows.flatMap(([, { most }]) => ('option' in most ? [most.option as string] : []));
    expect(shared.length).toBeGreaterThanOrEqual(4);
    for (const [option] of shared) expect(named).toContain(option);
  });

  it('has a row for each file that makes one', () => {
    const files = globSync('{src,features}/**/*.ts', { cwd: GATEWAY });
    const making = files.filter((file) => !/(\.test|\.bench|-doc)\.ts$/.test(file) && MAKERS.test(source(file)));
    const known = new Set([...rows.flatMap(([, row]) => row.files), ...Object.keys(NOT_SHARED)]);
    expect(making.filter((file) => !known.has(file))).toEqual([]);
  });

  it.each(rows)('%s names a test that is there', (_, { test }) => {
    const [file = '', title = ''] = test.split(/: (.*)/s);
    expect(readFileSync(join(GATEWAY, '..', file), 'utf8')).toContain(title);
  });
});
