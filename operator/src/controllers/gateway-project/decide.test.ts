import { DEFAULT_PART_BYTES } from '@gw/gateway/artifact';
import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../api/resources.ts';
import { artifactParts } from '../../objects/artifact-parts.ts';
import {
  applied,
  compiled,
  decide,
  deployment,
  failed,
  hash,
  kept,
  NOW,
  observed,
  pod,
  project,
  reasons,
  SETTINGS,
  served,
} from './decision-input.test-support.ts';
import type { PodState } from './pods/pod-state.ts';

describe('what a GatewayProject becomes', () => {
  it('the first artifact is stored, and everything around it made', () => {
    const decision = decide(observed(project()), compiled('a'), [], SETTINGS, NOW);
    expect(decision.parts.map(({ metadata }) => metadata.name)).toEqual([`shop-${'a'.repeat(64)}-0`]);
    expect(applied(decision)).toEqual(['ServiceAccount', 'Service', 'NetworkPolicy', 'Deployment']);
    expect(decision.status).toMatchObject({
      observedGeneration: 3,
      artifactHash: hash('a'),
      revision: 1,
      latestRevision: 1,
    });
    expect(reasons(decision)).toEqual({
      Accepted: 'True Accepted',
      Compiled: 'True Compiled',
      Stored: 'True Stored',
      Programmed: 'False NoReadyPods',
      Ready: 'False NotReady',
    });
  });

  it('tells at the end how it ended, with all pods that are wanted', () => {
    const of = project({ pods: { replicas: 2 } });
    const told = (pods: readonly PodState[], status?: object) => {
      const before = { ...of, status: status as NonNullable<typeof of.status> };
      const seen = observed(before, { parts: kept(of, 1, 'a'), pods, workload: served(1) });
      const decision = decide(seen, compiled('a'), [], SETTINGS, NOW);
      return {
        status: decision.status,
        notes: decision.events.filter(({ reason }) => reason === 'Programmed').map(({ note }) => note),
      };
    };
    const half = told([pod('a')]);
    expect([reasons({ status: half.status } as never)['Programmed'], half.notes]).toEqual(['True Programmed', []]);
    const whole = told([pod('a'), pod('a', { name: 'q' })], half.status);
    expect(whole.notes).toEqual(['2 of 2 pods serve revision 1']);
    expect(told([pod('a'), pod('a', { name: 'q' })], whole.status).notes).toEqual([]);
  });

  it('is ready when every ready pod says that it serves the artifact', () => {
    const of = project();
    const decision = decide(
      observed(of, { parts: kept(of, 1, 'a'), pods: [pod('a')], workload: served(1) }),
      compiled('a'),
      [],
      SETTINGS,
      NOW,
    );
    expect(reasons(decision)).toMatchObject({ Programmed: 'True Programmed', Ready: 'True Ready' });
    expect(decision.parts).toEqual([]);
  });

  it.each([
    ['one pod serves the old artifact', [pod('a'), pod('b')], 'False RollingOut'],
    [
      'a ready pod does not answer',
      [pod('a'), { name: 'q', ready: true, terminating: false, unreachable: 'timeout' }],
      'Unknown PodsUnreachable',
    ],
    ['an old pod is going', [pod('a'), pod('b', { terminating: true })], 'True Programmed'],
    ['a new pod is not ready yet', [pod('a'), { name: 'q', ready: false, terminating: false }], 'True Programmed'],
  ] satisfies [string, PodState[], string][])('Programmed when %s', (_, pods, expected) => {
    const of = project();
    const decision = decide(
      observed(of, { parts: kept(of, 1, 'a'), pods, workload: served(1) }),
      compiled('a'),
      [],
      SETTINGS,
      NOW,
    );
    expect(reasons(decision)['Programmed']).toBe(expected);
  });

  it('that asks for no pods is ready, and says that nothing is served', () => {
    const of = project({ pods: { replicas: 0 } });
    const { status } = decide(
      observed(of, { parts: kept(of, 1, 'a'), pods: [], workload: served(1) }),
      compiled('a'),
      [],
      SETTINGS,
      NOW,
    );
    const shown = Object.fromEntries(
      (status.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is} ${reason}`]),
    );
    expect(shown).toMatchObject({ Programmed: 'True ScaledToZero', Ready: 'True ScaledToZero' });
    expect(Object.keys(shown)).not.toContain('Stalled');
  });

  it('what does not compile leaves the last good artifact, and says why', () => {
    const of = project({}, { latestRevision: 1 });
    const decision = decide(
      observed(of, { parts: kept(of, 1, 'a'), pods: [pod('a')], workload: served(1) }),
      failed,
      [],
      SETTINGS,
      NOW,
    );
    expect(decision.status).toMatchObject({ artifactHash: hash('a'), revision: 1, diagnosticsCount: 1 });
    expect(reasons(decision)).toMatchObject({
      Compiled: 'False CompileFailed',
      Programmed: 'True Programmed',
      Ready: 'False LastGoodServing',
    });
    expect(decision.status.diagnostics?.[0]).toMatchObject({ code: 'E1003', apiSpec: 'a', pointer: '/paths' });
    expect(decision.events).toContainEqual(expect.objectContaining({ type: 'Warning', reason: 'CompileFailed' }));
    expect(applied(decision)).toContain('Deployment');
  });

  it('a missing ApiSpec is no reason to stop either', () => {
    const of = project({}, { latestRevision: 1 });
    const problems = [{ reason: 'SpecNotFound', message: 'ApiSpec "b" does not exist' } as const];
    const decision = decide(
      observed(of, { parts: kept(of, 1, 'a'), pods: [pod('a')], workload: served(1) }),
      undefined,
      problems,
      SETTINGS,
      NOW,
    );
    expect(reasons(decision)).toMatchObject({
      Accepted: 'False SpecNotFound',
      Compiled: 'False NotCompiled',
      Ready: 'False LastGoodServing',
    });
    expect(decision.status.artifactHash).toBe(hash('a'));
  });

  it('keeps 50 diagnostics and their number', () => {
    const many = Array.from(
      { length: 70 },
      (_, n) => ({ code: 'E1003', severity: n === 69 ? 'error' : 'warning', message: `${n}` }) as const,
    );
    const { status } = decide(observed(project()), { ok: false, diagnostics: many }, [], SETTINGS, NOW);
    expect([status.diagnostics?.length, status.diagnosticsCount, status.diagnostics?.[0]?.severity]).toEqual([
      50,
      70,
      'error',
    ]);
  });

  it('cuts an artifact into parts, and refuses one of more than eight', () => {
    const cut = decide(observed(project()), compiled('a', 2 * DEFAULT_PART_BYTES + 1), [], SETTINGS, NOW);
    expect(cut.parts).toHaveLength(3);
    const refused = decide(observed(project()), compiled('a', 8 * DEFAULT_PART_BYTES + 1), [], SETTINGS, NOW);
    expect(refused.parts).toEqual([]);
    expect(reasons(refused)).toMatchObject({ Stored: 'False ArtifactTooLarge', Ready: 'False NotReady' });
  });

  it('touches nothing where an object of its names belongs to somebody else', () => {
    const decision = decide(
      observed(project(), { foreign: ['Service "shop-gateway"'] }),
      compiled('a'),
      [],
      SETTINGS,
      NOW,
    );
    expect(decision.apply).toEqual([]);
    expect(reasons(decision)['Programmed']).toBe('False Conflict');
  });

  it('goes back to an older revision when a document does', () => {
    const of = project({}, { latestRevision: 2 });
    const parts = [...kept(of, 1, 'a'), ...kept(of, 2, 'b')];
    const { status } = decide(observed(of, { parts, workload: served(2) }), compiled('a'), [], SETTINGS, NOW);
    expect(status).toMatchObject({ artifactHash: hash('a'), revision: 1, latestRevision: 1 });
  });

  it('forgets revisions past the limit, once the rollout is done', () => {
    const of = project({ revisionHistoryLimit: 1 });
    const parts = [...kept(of, 1, 'a'), ...kept(of, 2, 'b'), ...kept(of, 3, 'c')];
    const rolling = decide(
      observed(of, { parts, pods: [pod('b')], workload: served(3) }),
      compiled('c'),
      [],
      SETTINGS,
      NOW,
    );
    expect(rolling.remove).toEqual([]);
    const done = decide(
      observed(of, { parts, pods: [pod('c')], workload: served(3) }),
      compiled('c'),
      [],
      SETTINGS,
      NOW,
    );
    expect(done.remove.map(({ metadata }) => metadata.name)).toEqual([`shop-${'a'.repeat(64)}-0`]);
    expect(done.status.revisions?.map(({ revision }) => revision)).toEqual([3, 2]);
  });

  it('clears away parts of a revision that never became whole', () => {
    const of = project();
    const torn = artifactParts(
      of,
      { revision: 2, artifactHash: hash('b'), archive: 'b'.repeat(64), createdAt: '', parts: 2 },
      new Uint8Array(DEFAULT_PART_BYTES + 1),
    ).slice(0, 1);
    const parts = [...kept(of, 1, 'a'), ...torn];
    const decision = decide(
      observed(of, { parts, pods: [pod('a')], workload: served(1) }),
      compiled('a'),
      [],
      SETTINGS,
      NOW,
    );
    expect(decision.status.revisions?.map(({ revision }) => revision)).toEqual([1]);
    expect(decision.remove.map(({ metadata }) => metadata.name)).toEqual([`shop-${'b'.repeat(64)}-0`]);
  });

  it('takes no ConfigMap for its own that it does not control', () => {
    const parts = kept(project(), 9, 'f').map((part) => ({
      ...part,
      metadata: { ...part.metadata, ownerReferences: [] },
    }));
    expect(decide(observed(project(), { parts }), undefined, [], SETTINGS, NOW).status.revisions).toEqual([]);
  });

  it('has a PodDisruptionBudget while it has several pods, and a NetworkPolicy while it is asked for', () => {
    const two = decide(observed(project({ pods: { replicas: 2 } })), compiled('a'), [], SETTINGS, NOW);
    expect(applied(two)).toContain('PodDisruptionBudget');
    const owned = ['PodDisruptionBudget', 'NetworkPolicy'].map((kind) => ({
      apiVersion: 'x',
      kind,
      metadata: { name: 'shop-gateway' },
    }));
    const one = decide(
      observed(project({ networkPolicy: { enabled: false } }), { owned }),
      compiled('a'),
      [],
      SETTINGS,
      NOW,
    );
    expect(one.remove.map(({ kind }) => kind)).toEqual(['PodDisruptionBudget', 'NetworkPolicy']);
    expect(applied(one)).not.toContain('NetworkPolicy');
  });
});

describe('Deployments', () => {
  const of = project({}, { latestRevision: 2 });
  const parts = [...kept(of, 1, 'a'), ...kept(of, 2, 'b')];
  const old = '2026-01-01T00:00:00Z';
  const late = '2026-01-02T00:00:00Z';

  it.each([
    ['none: the newest artifact', [], 2],
    ['latest', [deployment('d', old, { latest: true })], 2],
    ['a revision', [deployment('d', old, { revision: 1 })], 1],
    ['a hash', [deployment('d', old, { hash: hash('a') })], 1],
    ['several: the newest wins', [deployment('d', late, { revision: 1 }), deployment('e', old, { latest: true })], 1],
    ['what is not kept changes nothing', [deployment('d', old, { revision: 77 })], 2],
  ] satisfies [string, Deployment[], number][])('%s', (_, all, expected) => {
    const { status } = decide(
      observed(of, { parts, deployments: all, workload: served(2) }),
      compiled('b'),
      [],
      SETTINGS,
      NOW,
    );
    expect(status.revision).toBe(expected);
  });

  it('one that pins keeps later artifacts from being rolled out, and Ready says so', () => {
    const pinned = observed(of, {
      parts,
      deployments: [deployment('d', old, { revision: 1 })],
      pods: [pod('a')],
      workload: served(1),
    });
    const decision = decide(pinned, compiled('c'), [], SETTINGS, NOW);
    expect(decision.status).toMatchObject({ revision: 1, latestRevision: 3 });
    expect(reasons(decision)).toMatchObject({ Programmed: 'True Programmed', Ready: 'True Pinned' });
  });

  it('without any, and without autoDeploy, nothing new is rolled out', () => {
    const manual = project({ autoDeploy: false }, { latestRevision: 1 });
    const first = decide(observed(manual), compiled('a'), [], SETTINGS, NOW);
    expect(reasons(first)['Programmed']).toBe('False AwaitingDeployment');
    const running = decide(
      observed(manual, { parts: kept(manual, 1, 'a'), pods: [pod('a')], workload: served(1) }),
      compiled('b'),
      [],
      SETTINGS,
      NOW,
    );
    expect(running.status).toMatchObject({ revision: 1, latestRevision: 2 });
  });
});
