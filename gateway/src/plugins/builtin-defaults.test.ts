import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const FEATURES = join(import.meta.dirname, '..', '..', 'features');
/** A value in the place of one that the config lacks, which the schema's default has filled in already. */
const OTHERWISE = /Config\.(?:get|number)\([^()]*,/;

it('the defaults of the built-in plugins stand in their schemas alone', async () => {
  const sources = await Array.fromAsync(glob('*/plugins/*/assembly/*.ts', { cwd: FEATURES }));
  expect(sources.length).toBeGreaterThan(20);
  const doubled = sources.filter((source) => OTHERWISE.test(readFileSync(join(FEATURES, source), 'utf8')));
  expect(doubled).toEqual([]);
});
