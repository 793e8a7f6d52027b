import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../../test/property-runs.ts';
import { Exchange } from '../../../../../src/exchange.ts';
import { partitionOf } from './partition.ts';

const responder = {
  send() {},
  stream: () => {
    throw new Error('nothing is sent');
  },
  headSent: false,
  abort() {},
};

function bucketOf(value: string): string {
  const headers = ['x-team', value];
  const request = { method: 'GET', target: '/', scheme: 'http', headers, clientIp: '192.0.2.1', body: null };
  return partitionOf('header:X-Team')(new Exchange(responder, request));
}

describe('partitions of spending', () => {
  it('are as many as there are values, however long, also where one is the name of another', () => {
    const value = fc.oneof(fc.string({ maxLength: 5 }), fc.string({ minLength: 120, maxLength: 140 }));
    fc.assert(
      fc.property(value, value, (one, other) => {
        expect(bucketOf(one) === bucketOf(other)).toBe(one === other);
        const named = bucketOf(one).slice('header:x-team'.length);
        for (const like of [named, named.slice(1)]) if (like !== one) expect(bucketOf(like)).not.toBe(bucketOf(one));
      }),
      propertyRuns(300),
    );
    expect(bucketOf('x'.repeat(10_000)).length).toBeLessThan(100);
  });
});
