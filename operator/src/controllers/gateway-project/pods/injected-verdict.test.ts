/** What a GatewayProject says of sidecars. */
import { expect, it } from 'vitest';
import { injectedVerdict, programmedVerdict } from '../conditions.ts';

const served = { revision: 2, artifactHash: 'sha256:a' };
const none = { wanted: 0, ready: 0, programmed: 0 };
const reasonWith = (sidecars?: number) => {
  const basis = { target: served, pods: [], summary: none, foreign: [], autoDeploy: true, rollout: undefined };
  const { status, reason } = programmedVerdict({ ...basis, sidecars });
  return `${status} ${reason}`;
};

it('a project without pods of its own is served by sidecars, where there are any', () => {
  expect([reasonWith(), reasonWith(0), reasonWith(3)]).toEqual([
    'True ScaledToZero',
    'True ScaledToZero',
    'True ServedBySidecars',
  ]);
});

it('names the pods that were missed, though not all of many', () => {
  expect(injectedVerdict({ pods: 2, missing: [] })).toMatchObject({
    status: 'True',
    message: '2 pod(s) have a sidecar',
  });
  const missing = Array.from({ length: 7 }, (_, n) => `team/p${n}`);
  const { status, reason, message } = injectedVerdict({ pods: 2, missing });
  expect([status, reason]).toEqual(['False', 'SidecarMissing']);
  expect(message).toContain('team/p0, team/p1, team/p2, team/p3, team/p4 and 2 more request a sidecar');
});
