import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from './generate.ts';
import { RULES } from './rbac.ts';

const root = join(import.meta.dirname, '..', '..', '..');

describe('generated files', () => {
  it.each(generatedFiles(root).map(({ path, content }) => [path, content] as const))(
    '%s is what `npm run generate` makes',
    async (path, content) => {
      expect(await readFile(join(root, path), 'utf8')).toBe(content);
    },
  );

  it('give no right by wildcard, and no way to enumerate Secrets', () => {
    for (const { apiGroups, resources, verbs } of RULES)
      expect([...apiGroups, ...resources, ...verbs]).not.toContain('*');
    expect(RULES.find(({ resources }) => resources.includes('secrets'))?.verbs).toEqual(['get']);
  });
});
