/** Every row of docs/conformance.md names a test that exists: `path/to/file.test.ts: part of its title`. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

interface Row {
  readonly what: string;
  readonly file: string;
  readonly title: string;
}

function rows(): Row[] {
  const text = readFileSync(join(root, 'docs', 'conformance.md'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| row '))
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
