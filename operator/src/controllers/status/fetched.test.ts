import { describe, expect, it } from 'vitest';
import { apiSpecs } from '../../api/resources.ts';
import type { FetchedSource, SourceState } from '../../sources/source.ts';
import { fetchedStatus, fetchedVerdict, holdsWhileFetching } from './fetched.ts';

const source: FetchedSource = {
  content: { digest: 'abc', files: new Map(), size: 0 },
  fetchedAt: new Date('2026-01-02T03:04:05Z'),
  final: false,
};
const problem = { reason: 'SourceUnavailable', message: 'it answers 503' } as const;
const states = {
  fetching: { state: 'fetching' },
  failed: { state: 'failed', problem },
  fetched: { state: 'fetched', source },
  stale: { state: 'fetched', source, problem },
} as const satisfies Record<string, SourceState>;
const before = { digest: 'old', fetchedAt: '2026-01-01T00:00:00Z' };

describe('a source that is fetched', () => {
  it.each([
    ['fetching', 'Unknown Fetching: it is being fetched', before],
    ['failed', 'False SourceUnavailable: it answers 503', before],
    ['fetched', 'True Fetched: abc', { digest: 'abc', fetchedAt: '2026-01-02T03:04:05Z' }],
    [
      'stale',
      'False SourceUnavailable: it answers 503; using what was fetched at 2026-01-02T03:04:05Z',
      { digest: 'abc', fetchedAt: '2026-01-02T03:04:05Z' },
    ],
  ] as const)('%s', (name, text, fetched) => {
    const [verdict] = fetchedVerdict(states[name]);
    expect(`${verdict?.status} ${verdict?.reason}: ${verdict?.message}`).toBe(text);
    expect(fetchedStatus(states[name], before)).toEqual({ fetched });
  });

  it('keeps the time at which it was fetched first over a restart', () => {
    const known = { ...before, digest: 'abc' };
    expect(fetchedStatus(states.fetched, known)).toEqual({ fetched: known });
  });

  it('is nothing to speak of where the document is in the cluster', () => {
    expect([fetchedVerdict(undefined), fetchedStatus(undefined, before)]).toEqual([[], {}]);
  });

  it('needs no other word while it is fetched again, unless its object is another', () => {
    const of = (generation: number, status: string) =>
      apiSpecs.parse({
        metadata: { name: 'a', namespace: 'default', generation },
        spec: { source: { inline: 'x' } },
        status: {
          observedGeneration: 1,
          conditions: [{ type: 'Accepted', status, reason: 'Accepted', message: '', lastTransitionTime: '' }],
        },
      });
    expect(holdsWhileFetching(of(1, 'True'), states.fetching)).toBe(true);
    expect(holdsWhileFetching(of(2, 'True'), states.fetching)).toBe(false);
    expect(holdsWhileFetching(of(1, 'False'), states.fetching)).toBe(false);
    expect(holdsWhileFetching(of(1, 'True'), states.fetched)).toBe(false);
  });
});
