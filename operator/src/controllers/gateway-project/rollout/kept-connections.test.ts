/** When clients of the stable pods are made to connect anew. */
import { describe, expect, it } from 'vitest';
import { gatewayProjects } from '../../../api/resources.ts';
import type { RolloutStatus } from '../../../api/rollout.ts';
import type { PodState } from '../pods/pod-state.ts';
import { KeptConnections } from './kept-connections.ts';

const pods: readonly PodState[] = [
  { name: 'a', ready: true, terminating: false, host: '10.0.0.1' },
  { name: 'b', ready: true, terminating: false, host: '10.0.0.2', canary: true },
  { name: 'c', ready: false, terminating: false, host: '10.0.0.3' },
  { name: 'd', ready: true, terminating: true, host: '10.0.0.4' },
  { name: 'e', ready: true, terminating: false, host: '10.0.0.5' },
];

describe('kept connections', () => {
  it('of the stable pods are closed once, when a step of a canary has its pods', () => {
    const closed: string[] = [];
    const kept = new KeptConnections(async (host) => {
      closed.push(host);
      throw new Error('away');
    });
    const at = (rollout: RolloutStatus, now = 0) => {
      kept.at(
        {
          ...gatewayProjects.parse({ metadata: { name: 'shop', uid: 'u' }, spec: { specs: {} } }),
          status: { rollout },
        },
        pods,
        now,
      );
      return closed.splice(0);
    };
    const step: RolloutStatus = { strategy: 'Canary', phase: 'Progressing', revision: 2, step: 0 };
    const both = ['10.0.0.1', '10.0.0.5'];
    const steppedAt = '2026-01-02T03:04:05Z';
    expect(at(step)).toEqual([]);
    expect(at({ ...step, steppedAt })).toEqual(both);
    expect(at({ ...step, steppedAt }, 60_000)).toEqual([]);
    // Who has few connections may have come back to the others.
    const lacking = { ...step, steppedAt, withoutEvidence: ['POST /a'] };
    expect([at(lacking, 14_999), at(lacking, 15_000), at(lacking, 16_000)]).toEqual([[], both, []]);
    expect(at({ ...step, step: 1, steppedAt })).toEqual(both);
    expect(at({ ...step, revision: 3, steppedAt })).toEqual(both);
    expect(at({ ...step, phase: 'Aborted', steppedAt })).toEqual([]);
    expect(at({ ...step, strategy: 'Rolling', revision: 4, steppedAt })).toEqual([]);
  });
});
