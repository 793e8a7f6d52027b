/** Every row of these pages names a test that exists: `path/to/file.test.ts: part of its title`. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

interface Row {
  readonly what: string;
  readonly file: string;
  readonly title: string;
}

const PAGES = ['conformance.md', 'threat-model.md'];
/** First cells of the heads of tables, and of the one that says who may do what. */
const NO_ROW = /^\| (row|attempt|who|client|API author|plugin author|upstream,|role in|user of|pod in|operator,) ?/;

function rows(): Row[] {
  const text = PAGES.map((page) => readFileSync(join(root, 'docs', page), 'utf8')).join('\n');
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !NO_ROW.test(line))
    .flatMap((line) => {
      const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      return (cells[3] ?? '').split('<br>').map((test) => {
        const [file = '', title = ''] = test.replaceAll('`', '').split(/: (.*)/s);
        return { what: cells[1] ?? '', file, title };
      });
    });
}

it('has rows', () => {
  expect(rows().length).toBeGreaterThan(50);
});

it.each(rows())('$what: $file: $title', ({ file, title }) => {
  expect(file).toMatch(/\.test\.ts$/);
  expect(existsSync(join(root, file)), `${file} does not exist`).toBe(true);
  expect(title).not.toBe('');
  expect(readFileSync(join(root, file), 'utf8'), `no test in ${file} says "${title}"`).toContain(title);
});
