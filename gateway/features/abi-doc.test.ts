/**
 * sdk/ABI.md is what authors of plugins in other languages have: it names every host function, with its parameters, and
 * every field of plugin.toml.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { manifestFrom, wasmFileOf } from '../src/plugins/package.ts';
import { transportHeaders } from '../src/wasm/host/header-rules.ts';
import { HOST_FUNCTIONS } from './host-functions.ts';

const page = readFileSync(join(import.meta.dirname, '..', 'sdk', 'ABI.md'), 'utf8');
const rows = page
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter((cells) => cells.length > 3);

/** What stands in back quotes: a row may be about several functions, in the same order. */
function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text);
}

describe('plugin.toml', () => {
  /** `[table]`, field and default of each. */
  const fields = rows.flatMap(([, first = '', standard = '']) => {
    const [, table, field] = /^`\[(\w+)\]` `(\w+)`$/.exec(first) ?? [];
    return table && field ? [{ table, field, standard }] : [];
  });
  const minimal = { plugin: { name: 'x', version: '1.0.0', type: 'middleware' } };

  it('has a row for every field that is read, and for no other', () => {
    const read = new Set<string>(['plugin wasm']);
    const noting = (table: string, values: object) =>
      new Proxy(values, {
        get(target, name, receiver) {
          if (typeof name === 'string') read.add(`${table} ${name}`);
          return Reflect.get(target, name, receiver);
        },
      });
    manifestFrom({ plugin: noting('plugin', minimal.plugin), capabilities: noting('capabilities', {}) });
    expect(fields.map(({ table, field }) => `${table} ${field}`).sort()).toEqual([...read].sort());
  });

  it('has the defaults that it says', () => {
    const manifest: Readonly<Record<string, unknown>> = { ...manifestFrom(minimal) };
    const absent = ['none', "the gateway's", '`[]`', '`false`'];
    for (const { field, standard } of fields) {
      if (standard === 'required') continue;
      if (field === 'wasm') expect(wasmFileOf('[plugin]\nname="x"\nversion="1.0.0"\ntype="middleware"')).toBe('x.wasm');
      else if (manifest[field] === undefined) expect(absent, field).toContain(standard);
      else
        expect(standard, field).toBe(
          `\`${typeof manifest[field] === 'string' ? manifest[field] : JSON.stringify(manifest[field])}\``,
        );
    }
  });
});

it('names every header that is the gateway’s', () => {
  const line = page.split('\n').find((each) => each.includes("are the gateway's: no plugin changes them")) ?? '';
  expect(quoted(line.slice(0, line.indexOf('are the gateway')))).toEqual([...transportHeaders].sort());
});

it.each([...HOST_FUNCTIONS])('%s', (name, { signature, waits }) => {
  const cells = rows.find(([, first = '']) => first.includes(`\`${name}\``));
  expect(cells, 'it has no row').toBeDefined();
  const [, first = '', types = ''] = cells ?? [];
  const type = quoted(types)[quoted(first).indexOf(name)] ?? '';
  const [params = '', result = ''] = signature.split(':');
  if (waits) expect(first, 'it may wait: mark it with →').toContain('→');
  // Where a row says that it is as another, that one is checked.
  const written = /\((.*?)\)( -> )?/.exec(type);
  if (!written) return;
  const [, list = '', arrow] = written;
  expect(list === '' ? 0 : list.split(',').length, type).toBe(params.length);
  expect(arrow !== undefined, type).toBe(result !== '');
});
