import { describe, expect, it } from 'vitest';
import { type Deployment, deployments, type GatewayProject, gatewayProjects } from '../../api/resources.ts';
import { decideDeployment } from './decide.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const hash = (letter: string) => `sha256:${letter.repeat(64)}`;
const revision = (number: number, letter: string) => ({
  revision: number,
  artifactHash: hash(letter),
  archive: letter.repeat(64),
  createdAt: '2026-01-01T00:00:00Z',
  parts: 1,
});

function project(serves: number, programmed: string, reason: string): GatewayProject {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default' },
    spec: { specs: { selector: {} }, pods: { replicas: 2 } },
    status: {
      revision: serves,
      latestRevision: 2,
      revisions: [revision(2, 'b'), revision(1, 'a')],
      pods: { wanted: 2, ready: 2, programmed: 2 },
      conditions: [
        {
          type: 'Programmed',
          status: programmed,
          reason,
          message: 'as it is',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  });
}

function deployment(artifact: object, name = 'd', created = '2026-01-01T00:00:00Z'): Deployment {
  return deployments.parse({
    metadata: { name, namespace: 'default', generation: 2, creationTimestamp: created },
    spec: { project: 'shop', artifact },
  });
}

const programmed = project(1, 'True', 'Programmed');

describe('what a Deployment says of its rollout', () => {
  it.each([
    ['its revision is served', { revision: 1 }, programmed, 'Succeeded', 'True Succeeded', 1],
    ['its hash is served', { hash: hash('a') }, programmed, 'Succeeded', 'True Succeeded', 1],
    ['another revision is still served', { latest: true }, programmed, 'Progressing', 'False RollingOut', 2],
    [
      'pods are being replaced',
      { revision: 1 },
      project(1, 'False', 'RollingOut'),
      'Progressing',
      'False RollingOut',
      1,
    ],
    [
      'new pods do not become ready',
      { revision: 1 },
      project(1, 'False', 'RolloutFailed'),
      'Failed',
      'False RolloutFailed',
      1,
    ],
    ['the revision is not kept', { revision: 9 }, programmed, 'Pending', 'False NoSuchRevision', undefined],
    ['there is no project', { latest: true }, undefined, 'Pending', 'False ProjectNotFound', undefined],
    ['it names two artifacts', { latest: true, revision: 1 }, programmed, 'Pending', 'False InvalidSpec', 1],
    ['it names none', { latest: false }, programmed, 'Pending', 'False InvalidSpec', 2],
  ] satisfies [string, object, GatewayProject | undefined, string, string, number | undefined][])(
    'when %s',
    (_, artifact, of, outcome, ready, expected) => {
      const it = deployment(artifact);
      const status = decideDeployment({ deployment: it, project: of, siblings: [it] }, NOW);
      const condition = status.conditions?.find(({ type }) => type === 'Ready');
      expect([status.outcome, `${condition?.status} ${condition?.reason}`, status.revision]).toEqual([
        outcome,
        ready,
        expected,
      ]);
    },
  );

  it.each([
    ['what it asked for', 'uid-d/2', 'Failed', 'RolledBack'],
    ['what it asked for before it was changed', 'uid-d/1', 'Progressing', 'RollingOut'],
    ['before there was a Deployment', undefined, 'Progressing', 'RollingOut'],
  ])('a revision that failed is its outcome where that was %s', (_, asked, outcome, reason) => {
    const bare = deployment({ latest: true });
    const it = { ...bare, metadata: { ...bare.metadata, uid: 'uid-d' } };
    const failed = {
      revision: 2,
      artifactHash: hash('b'),
      message: 'pod p: it ended with exit code 13',
      ...(asked ? { deployment: asked } : {}),
    };
    const of = { ...programmed, status: { ...programmed.status, failed } };
    const status = decideDeployment({ deployment: it, project: of, siblings: [it] }, NOW);
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    expect([status.outcome, ready?.reason]).toEqual([outcome, reason]);
    if (outcome === 'Failed') expect(ready?.message).toContain('exit code 13');
  });

  it('it is superseded by a newer one, whatever it asks for', () => {
    const older = deployment({ revision: 1 });
    const newer = deployment({ latest: true }, 'e', '2026-01-02T00:00:00Z');
    const status = (of: Deployment) =>
      decideDeployment({ deployment: of, project: programmed, siblings: [older, newer] }, NOW);
    expect(status(older).outcome).toBe('Superseded');
    expect(status(newer).outcome).toBe('Progressing');
  });

  it('the time of completion stays', () => {
    const first = deployment({ revision: 1 });
    const status = decideDeployment({ deployment: first, project: programmed, siblings: [first] }, NOW);
    const again = { ...first, status };
    const later = decideDeployment(
      { deployment: again, project: programmed, siblings: [again] },
      new Date('2026-06-01T00:00:00Z'),
    );
    expect([status.completedAt, later.completedAt]).toEqual(['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z']);
  });
});
