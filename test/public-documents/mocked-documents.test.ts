/** Public descriptions as `gw dev DOCUMENT --mock` serves them, if GW_PUBLIC_DOCUMENTS names a folder of checkouts. */
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { startDev } from '../serve/dev-server.ts';
import { fileIn, hashOf, mockedDocuments, publicDocuments } from './documents.ts';

const folder = process.env['GW_PUBLIC_DOCUMENTS'] ?? '';

it('are others than those that are compiled, each named once', () => {
  const places = [...publicDocuments, ...mockedDocuments].map(({ repository, path }) => `${repository}/${path}`);
  expect(new Set(places).size).toBe(places.length);
  expect(mockedDocuments.length).toBeGreaterThanOrEqual(50);
});

const present = mockedDocuments.filter((document) => {
  const file = folder === '' ? null : fileIn(folder, document);
  return file !== null && hashOf(file) === document.sha256;
});

const ANSWERED = /(\d+) operations? answered with examples(?:, (\d+) left out)?/;

for (const document of present) {
  it(`${document.name} is served, or says why`, async () => {
    const file = fileIn(folder, document) ?? '';
    const { operations, leftOut } = document;
    if (operations === null) {
      await expect(startDev(dirname(file), file, '--mock')).rejects.toThrow(/error: E\d+/);
      return;
    }
    const dev = await startDev(dirname(file), file, '--mock');
    try {
      await expect.poll(() => ANSWERED.test(dev.said())).toBe(true);
      const [, answered, left = '0'] = ANSWERED.exec(dev.said()) ?? [];
      expect([Number(answered), Number(left)]).toEqual([operations, leftOut]);
      const [, method = 'GET', path = '/'] = /^ {2}([A-Z]+) +(\/\S*) /m.exec(dev.said()) ?? [];
      const { status } = await fetch(`${dev.url}${path.replaceAll(/\{\w+\}/g, '1')}`, { method, redirect: 'manual' });
      // A request that the document does not allow is refused; no operation fails.
      expect(status).toBeLessThan(500);
    } finally {
      await dev.stop();
    }
  });
}
