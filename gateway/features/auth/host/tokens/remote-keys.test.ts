import { expect, it } from 'vitest';
import { jwkOf, newKey } from '../../../../../test/serve/issuer.ts';
import { Outage } from '../../../../src/capability/outage.ts';
import { NOBODY } from '../../../kit.ts';
import { RemoteKeys } from './remote-keys.ts';

it('gives a token that was checked with earlier keys those that were fetched meanwhile, without another look', async () => {
  const key = () => ({ keys: [{ ...jwkOf(newKey('ES256', 'any')), kid: undefined }] });
  let set = key();
  let fetches = 0;
  const keys = new RemoteKeys({
    fetch: async () => {
      fetches++;
      return set;
    },
    refreshMs: 3_600_000,
    outage: new Outage('keys', () => {}),
  });
  const first = await keys.keysFor(undefined, NOBODY);
  set = key();
  const second = await keys.newerThan(first, NOBODY);
  expect(second).not.toBe(first);
  expect([await keys.newerThan(first, NOBODY), fetches]).toEqual([second, 2]);
  keys.close();
});
