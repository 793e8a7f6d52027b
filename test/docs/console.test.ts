/** The commands that the console shows exist, with the options that it gives them. */
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const cli = readFileSync(join(root, 'docs', 'control-cli.md'), 'utf8');

const shown: string[] = [];
for await (const file of glob('control/ui/**/*.tsx', { cwd: root })) {
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, command = ''] of text.matchAll(/text=(?:"|\{`)(gw-control [^"`]+)/g)) shown.push(command);
}

it('shows commands', () => {
  expect(shown.length).toBeGreaterThan(5);
});

it.each(shown)('%s', (command) => {
  const words = command.split(' ').filter((word) => /^[a-z-]+$/.test(word));
  // `gw-control api-keys create edge` is `gw-control api-keys create` with an argument.
  const names = words.map((_, i) => words.slice(0, i + 1).join(' ')).filter((name) => name !== 'gw-control');
  const section = names.map((name) => sectionOf(name)).findLast((text) => text !== undefined);
  expect(section, `docs/control-cli.md has no ${command}`).toBeDefined();
  for (const [option] of command.matchAll(/--[a-z-]+/g)) expect(section).toContain(option);
});

/** What the page says of a command. */
function sectionOf(name: string): string | undefined {
  const [, text] = new RegExp(`^##+ ${name}\\n(.*?)(?=^##|$(?![\\s\\S]))`, 'ms').exec(cli) ?? [];
  return text;
}
