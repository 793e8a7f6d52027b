/** How many pods a workload is told to have, with and without an autoscaler. */
import { describe, expect, it } from 'vitest';
import { gatewayProjects, type Workload, workloads } from '../api/resources.ts';
import { handedOver, wantedReplicas } from './replicas.ts';
import { workload } from './workload.ts';

const REVISION = {
  revision: 1,
  artifactHash: `sha256:${'a'.repeat(64)}`,
  archive: 'a'.repeat(64),
  createdAt: '',
  parts: 1,
};
const SETTINGS = { image: 'gw:test', trustedKeys: [] };

function project(pods: object) {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 1 },
    spec: { specs: { selector: {} }, pods },
  });
}
const autoscaled = project({ replicas: 1, autoscaling: { minReplicas: 3, maxReplicas: 9 } });
const running = (replicas: number, annotations = {}): Workload =>
  workloads.parse({
    metadata: { name: 'shop-gateway', namespace: 'default', uid: 'w', annotations },
    spec: { replicas },
  });
const said = (of: typeof autoscaled, more = {}) => {
  const { metadata, spec } = workloads.parse(workload(of, REVISION, { ...SETTINGS, ...more }));
  return { replicas: spec?.replicas, marked: metadata.annotations?.['gw.dev/autoscaled'] };
};

describe('the number of pods', () => {
  it('is the spec’s without an autoscaler', () => {
    expect(said(project({ replicas: 4 }), { running: running(2) })).toEqual({ replicas: 4, marked: undefined });
    expect(handedOver(project({ replicas: 4 }), running(2))).toBeUndefined();
    expect(wantedReplicas(project({ replicas: 4 }), running(2))).toBe(4);
  });

  it('begins with the least where there is an autoscaler from the start', () => {
    expect(said(autoscaled)).toEqual({ replicas: 3, marked: undefined });
    expect(wantedReplicas(autoscaled, undefined)).toBe(3);
  });

  it('is handed over as it is when an autoscaler takes over, and then no longer said', () => {
    const before = running(7);
    expect(handedOver(autoscaled, before)).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'shop-gateway', namespace: 'default', uid: 'w' },
      spec: { replicas: 7 },
    });
    expect(said(autoscaled, { running: before })).toEqual({ replicas: undefined, marked: 'true' });
    expect(wantedReplicas(autoscaled, before)).toBe(7);
  });

  it('is not handed over a second time', () => {
    expect(handedOver(autoscaled, running(5, { 'gw.dev/autoscaled': 'true' }))).toBeUndefined();
  });

  it('is the least where nothing scales, as in local mode', () => {
    expect(said(autoscaled, { autoscales: false, running: running(1) })).toEqual({ replicas: 3, marked: undefined });
  });
});
