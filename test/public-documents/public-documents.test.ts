import { expect, it } from 'vitest';
import { fileIn, hashOf, publicDocuments, verdictOf } from './documents.ts';

const folder = process.env['GW_PUBLIC_DOCUMENTS'] ?? '';

it('name each file once, with its commit and its hash', () => {
  const places = publicDocuments.map(({ repository, path }) => `${repository}/${path}`);
  expect(new Set(places).size).toBe(publicDocuments.length);
  for (const { commit, sha256 } of publicDocuments) expect([commit, sha256]).toEqual([hex(40), hex(64)]);
});

const hex = (length: number) => expect.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));

/** Those that are there as the list has them. */
const present = publicDocuments.filter((document) => {
  const file = folder === '' ? null : fileIn(folder, document);
  return file !== null && hashOf(file) === document.sha256;
});

it('are there, at least in part, if GW_PUBLIC_DOCUMENTS names a folder', () => {
  expect(present.length > 0).toBe(folder !== '');
});

for (const document of present) {
  it(`${document.name} compiles, or says why`, async () => {
    const { operations, codes } = document;
    expect(await verdictOf(folder, document)).toEqual({ operations, codes });
  });
}
