/** sdk/ABI.md is what authors of plugins in other languages have: it names every host function, with its parameters. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HOST_FUNCTIONS } from './host/registry.ts';

const rows = readFileSync(join(import.meta.dirname, '..', '..', 'sdk', 'ABI.md'), 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter((cells) => cells.length > 3);

/** What stands in back quotes: a row may be about several functions, in the same order. */
function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text);
}

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
