import { expect, it } from 'vitest';
import type { RoutesFile } from '../artifact/format.ts';
import { DEFAULT_POLICY } from '../artifact/upstream-policy.ts';
import { diffUpstreams } from './upstreams.ts';

const routes = (upstreams?: NonNullable<RoutesFile['upstreams']>): RoutesFile => ({
  operations: [],
  schemas: {},
  ...(upstreams ? { upstreams } : {}),
});

it('names upstreams that come and go, and what has changed in the policy of others', () => {
  const before = routes({ books: DEFAULT_POLICY, old: DEFAULT_POLICY });
  const after = routes({ books: { ...DEFAULT_POLICY, balance: 'round-robin' }, orders: DEFAULT_POLICY });
  expect(diffUpstreams(before, after).map(({ subject, message }) => `${subject}: ${message}`)).toEqual([
    'upstream books: balance: "least-requests" → "round-robin"',
    'upstream old: removed',
    'upstream orders: added: give its addresses with --upstreams',
  ]);
  expect([diffUpstreams(before, before), diffUpstreams(routes(), routes())]).toEqual([[], []]);
});
