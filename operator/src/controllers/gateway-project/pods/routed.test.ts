import { describe, expect, it } from 'vitest';
import { endpointSlices } from '../../../api/resources.ts';
import { hash, NOW, pod, project } from '../decision-input.test-support.ts';
import { routedOf, routedVerdict } from './routed.ts';

const slice = (...endpoints: readonly (readonly [name: string, ready?: boolean])[]) =>
  endpointSlices.parse({
    metadata: { name: 's' },
    endpoints: endpoints.map(([name, ready]) => ({
      addresses: ['10.0.0.1'],
      conditions: { ready, serving: true, terminating: ready === false },
      targetRef: { kind: 'Pod', name },
    })),
  });
const all = {
  type: 'Programmed',
  status: 'True',
  reason: 'Programmed',
  message: '2 of 2 pods serve revision 2',
} as const;
const pods = [
  pod('b', { name: 'new-1' }),
  pod('b', { name: 'new-2' }),
  pod('a', { name: 'old', terminating: true }),
  pod('b', { name: 'starting', ready: false }),
];
const verdictOf = (slices: Parameters<typeof routedOf>[0], status?: object) => {
  const {
    status: is,
    reason,
    message,
  } = routedVerdict(all, { project: project({}, status), pods, ...routedOf(slices) }, hash('b'));
  return is === 'True' ? reason : `${reason}: ${message.split('; ')[1]}`;
};

describe('a project is programmed', () => {
  it('when its Service is routed to all pods that serve, and to no others', () => {
    expect(verdictOf([slice(['new-1', true], ['old', false], ['starting']), slice(['new-2'])])).toBe('Programmed');
  });

  it('not while the Service is routed to a pod that ends', () => {
    expect(verdictOf([slice(['new-1', true], ['new-2', true], ['old', true])])).toBe(
      'RollingOut: the Service still routes to pod old, which is terminating',
    );
  });

  it('not before the Service is routed to each of its pods', () => {
    const wanted = 'RollingOut: the Service does not route to pod new-2 yet';
    expect(verdictOf([slice(['new-1', true])])).toBe(wanted);
    const empty = endpointSlices.parse({ metadata: { name: 's' }, endpoints: null });
    expect(verdictOf([empty])).toBe('RollingOut: the Service does not route to pod new-1 yet');
  });

  it('where nothing says what the Service is routed to', () => {
    expect(verdictOf([])).toBe('Programmed');
  });

  it('also while pods come and go, once it has been', () => {
    const condition = { type: 'Programmed', reason: '', message: '', lastTransitionTime: NOW.toISOString() };
    const before = (status: string, letter: string) => ({
      artifactHash: hash(letter),
      conditions: [{ ...condition, status }],
    });
    const slices = [slice(['new-1', true], ['old', true])];
    expect(verdictOf(slices, before('True', 'b'))).toBe('Programmed');
    expect(verdictOf(slices, before('False', 'b'))).toMatch(/^RollingOut/);
    expect(verdictOf(slices, before('True', 'a'))).toMatch(/^RollingOut/);
  });
});
