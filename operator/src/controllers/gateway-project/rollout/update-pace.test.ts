/** Who replaces pods when the operator changed: some projects at a time, and none more once they fail. */
import { describe, expect, it } from 'vitest';
import { type GatewayProject, type Workload, workloads } from '../../../api/resources.ts';
import type { KubeObject, ObjectKey } from '../../../kube/kube-object.ts';
import { ANNOTATION_TEMPLATE, ANNOTATION_UPDATE, LABEL_PROJECT } from '../../../objects/names.ts';
import type { Settings } from '../decide.ts';
import { decide, hash, kept, NOW, observed, pod, project, SETTINGS } from '../decision-input.test-support.ts';
import { type Turn, UpdatePace } from './update-pace.ts';

const status = {
  updating: { observedGeneration: 2, replicas: 3, updatedReplicas: 1, readyReplicas: 2 },
  failed: {
    observedGeneration: 2,
    replicas: 3,
    updatedReplicas: 1,
    readyReplicas: 2,
    conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
  },
  done: { observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2 },
} as const;

function workloadOf(name: string, state: keyof typeof status, namespace = name): Workload {
  return workloads.parse({
    metadata: {
      name: `${name}-gateway`,
      namespace,
      generation: 2,
      labels: { [LABEL_PROJECT]: name },
      annotations: { [ANNOTATION_TEMPLATE]: 'b', [ANNOTATION_UPDATE]: 'b' },
    },
    spec: { replicas: 2 },
    status: status[state],
  });
}

const keyOf = (name: string): ObjectKey => ({ namespace: name, name });

function rig(atOnce: number, ...first: readonly Workload[]) {
  const rig = { cluster: [...first], called: [] as string[], stopped: [] as (readonly string[])[] };
  const pace = new UpdatePace({
    atOnce,
    objects: { list: async <T extends KubeObject>() => rig.cluster as KubeObject[] as T[] },
    namespaces: [],
    onStop: (failed) => rig.stopped.push(failed),
  });
  pace.onStart((keys) => rig.called.push(...keys.map(({ name }) => name)));
  return Object.assign(rig, { pace });
}

describe('the pace of updates', () => {
  it('lets as many go on as may at once, also where they ask in the same moment', async () => {
    const { pace } = rig(2);
    const turns = await Promise.all(['a', 'b', 'c'].map((name) => pace.turn(keyOf(name))));
    expect(turns.map(({ taken }) => taken)).toEqual([true, true, false]);
    expect(turns[2]).toEqual({ taken: false, updating: 2, failed: 0, stopped: false });
    expect(await pace.counts()).toEqual({ waiting: 1, updating: 2, failed: 0 });
  });

  it('counts what the cluster says, as after a restart, and calls up who waits once there is room', async () => {
    const the = rig(1, workloadOf('a', 'updating'));
    for (const name of ['b', 'c']) expect((await the.pace.turn(keyOf(name))).taken).toBe(false);
    await the.pace.reconciled(keyOf('a'), false);
    expect(the.called).toEqual([]);
    the.cluster = [workloadOf('a', 'done')];
    await the.pace.reconciled(keyOf('a'), false);
    expect(the.called).toEqual(['b']);
    expect((await the.pace.turn(keyOf('b'))).taken).toBe(true);
  });

  it('stops where all places are those of failures, tells so once, and goes on when one is mended', async () => {
    const the = rig(2, workloadOf('a', 'failed'), workloadOf('b', 'failed'));
    expect(await the.pace.turn(keyOf('c'))).toEqual({ taken: false, updating: 0, failed: 2, stopped: true });
    await the.pace.turn(keyOf('c'));
    expect(the.stopped).toEqual([['a/a', 'b/b']]);
    the.cluster = [workloadOf('a', 'failed')];
    await the.pace.reconciled(keyOf('b'), false);
    expect(the.called).toEqual(['c']);
  });

  it('calls up all who wait once failures take all places, so that each says so', async () => {
    const the = rig(1, workloadOf('a', 'updating'));
    for (const name of ['b', 'c']) await the.pace.turn(keyOf(name));
    the.cluster = [workloadOf('a', 'failed')];
    await the.pace.reconciled(keyOf('a'), false);
    expect(the.called).toEqual(['b', 'c']);
    for (const name of ['b', 'c']) expect(await the.pace.turn(keyOf(name))).toMatchObject({ stopped: true });
    await the.pace.reconciled(keyOf('a'), false);
    expect(the.called).toEqual(['b', 'c']);
  });

  it('gives one place to all failures of a namespace', async () => {
    const the = rig(2, ...['a', 'b', 'c'].map((name) => workloadOf(name, 'failed', 'tenant')));
    expect((await the.pace.turn(keyOf('x'))).taken).toBe(true);
    expect((await the.pace.turn(keyOf('y'))).taken).toBe(false);
  });

  it('lets those go on that failed: what the operator makes now may be better', async () => {
    const the = rig(1, workloadOf('a', 'failed'));
    expect((await the.pace.turn(keyOf('a'))).taken).toBe(true);
  });

  it('lets all go on at once where it shall', async () => {
    const { pace } = rig(0, workloadOf('a', 'failed'));
    const turns = await Promise.all(['b', 'c', 'd'].map((name) => pace.turn(keyOf(name))));
    expect(turns.map(({ taken }) => taken)).toEqual([true, true, true]);
  });
});

/** What an operator with these settings makes of a project that serves its first revision, and what is there then. */
function served(settings: Settings, of: GatewayProject, running?: Workload, turn?: Turn) {
  const revision = { revision: 1, artifactHash: hash('a'), archive: 'a'.repeat(64), createdAt: '', parts: 1 };
  const rollout = { strategy: 'Rolling', phase: 'Succeeded', revision: 1, artifactHash: hash('a') };
  const at = {
    ...of,
    status: {
      ...of.status,
      observedGeneration: of.metadata.generation,
      revision: 1,
      latestRevision: 1,
      revisions: [revision],
      rollout,
    },
  } as GatewayProject;
  const seen = observed(at, {
    pods: [pod('a', { revision: 1 })],
    ...(running ? { workload: running } : {}),
    ...(turn ? { turn } : {}),
    parts: kept(at, 1, 'a'),
  });
  const decision = decide(seen, undefined, [], settings, NOW);
  const made = decision.apply.find(({ kind }) => kind === 'Deployment');
  const updated = decision.status.conditions?.find(({ type }) => type === 'Updated');
  return { decision, made: made && workloads.parse(made), updated: updated?.reason };
}

describe('pods of an earlier operator', () => {
  const of = project({ pods: { replicas: 2 } });
  const before = served(SETTINGS, of).made as Workload;
  const next = { ...SETTINGS, image: 'gw:next' };

  it('wait for their turn, serve on, and say so', () => {
    const { decision, made, updated } = served(next, of, before);
    expect([made, decision.outdated, updated]).toEqual([undefined, true, 'AwaitingUpdate']);
    const waiting = { taken: false, updating: 0, failed: 5, stopped: true } as const;
    expect(served(next, of, before, waiting).updated).toBe('UpdateStopped');
  });

  it('are replaced when it is, and say how far it is', () => {
    const { made, updated } = served(next, of, before, { taken: true });
    expect(updated).toBe('Updating');
    const annotations = made?.metadata.annotations ?? {};
    expect(annotations[ANNOTATION_UPDATE]).toBe(annotations[ANNOTATION_TEMPLATE]);
    const at = (state: keyof typeof status) =>
      served(next, of, {
        ...(made as Workload),
        metadata: { ...made?.metadata, generation: 2 } as never,
        status: status[state],
      });
    expect([at('updating'), at('failed')].map(({ updated, decision }) => [updated, decision.outdated])).toEqual([
      ['Updating', false],
      ['UpdateFailed', false],
    ]);
    expect(at('failed').made?.metadata.annotations?.[ANNOTATION_UPDATE]).toBe(annotations[ANNOTATION_UPDATE]);
    // Once they are all replaced it is nothing special any more.
    expect(at('done').made?.metadata.annotations?.[ANNOTATION_UPDATE]).toBeUndefined();
    const told = project({ pods: { replicas: 2 } }, { conditions: [condition('Updated', 'Updating')] });
    expect(served(next, told, made).updated).toBe('Updating');
    expect(served(next, told, at('done').made).updated).toBe('Updated');
  });

  it('do not wait with what the project itself asks for', () => {
    const changed = project({ pods: { replicas: 2, labels: { team: 'books' } } });
    const later = { ...changed, metadata: { ...changed.metadata, generation: 4 } };
    const { made, decision, updated } = served(next, later, before);
    expect([made?.kind, decision.outdated, updated]).toEqual(['Deployment', false, undefined]);
    expect(made?.metadata.annotations?.[ANNOTATION_UPDATE]).toBeUndefined();
  });

  it('are left as they are where the operator makes the same', () => {
    const { made, decision, updated } = served(SETTINGS, of, before);
    expect([made?.metadata.annotations, decision.outdated, updated]).toEqual([
      before.metadata.annotations,
      false,
      undefined,
    ]);
  });
});

function condition(type: string, reason: string) {
  return { type, reason, status: 'False', message: '', observedGeneration: 3, lastTransitionTime: NOW.toISOString() };
}
