import { describe, expect, it } from 'vitest';
import { fileIn, hashOf, publicDocuments, verdictOf } from './documents.ts';

const folder = process.env['GW_PUBLIC_DOCUMENTS'] ?? '';

describe.skipIf(folder === '')('public descriptions (needs GW_PUBLIC_DOCUMENTS)', () => {
  it.each(publicDocuments)('$name compiles, or says why', async (document) => {
    const file = fileIn(folder, document);
    if (file === null || hashOf(file) !== document.sha256) return;
    const { operations, codes } = document;
    expect(await verdictOf(folder, document)).toEqual({ operations, codes });
  });

  it('are those of the list, at least in part', () => {
    const found = publicDocuments.filter((document) => {
      const file = fileIn(folder, document);
      return file !== null && hashOf(file) === document.sha256;
    });
    expect(found).not.toEqual([]);
  });
});
