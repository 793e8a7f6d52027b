/** A decision about a GatewayProject whose pods get their artifacts from a control plane. */
import { describe, expect, it } from 'vitest';
import {
  compiled,
  decide,
  deployment,
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
import type { Observed } from './observe.ts';

describe('with a control plane that pods are linked to', () => {
  const HERE = '01a20078-65e3-7880-a083-4c690f7bbe16';
  const spec = { controlPlane: { url: 'https://control.example', secret: 'control' } };
  const secret = {
    ok: true,
    name: 'control',
    access: { url: 'https://control.example', token: 'gwt_x' },
    hasKey: true,
  } as const;
  const there = (letter: string, id: string, asked: { by: string; deploymentId: string } | undefined) => ({
    secret,
    seen: {
      projectId: HERE,
      drift: [],
      synced: hash('b'),
      ...(asked ? { asked } : {}),
      latest: {
        deployment_id: id,
        artifact_id: 'its',
        artifact_hash: hash(letter),
        kind: 'deploy',
        created_by: 'admin',
      } as const,
    },
  });
  const two = () => [...kept(project(), 2, 'b'), ...kept(project(), 1, 'a')];
  const decided = (letter: string, id: string, serves: string, more: Partial<Observed> = {}) => {
    const asked = { by: `revision 2 (${hash('b')})`, deploymentId: 'ours' };
    const pods = [pod(serves), pod(serves)];
    const of = project({ ...spec, pods: { replicas: 2 } });
    const at = { parts: two(), workload: served(2), pods, controlPlane: there(letter, id, asked), ...more };
    return decide(observed(of, at), compiled('b'), [], SETTINGS, NOW);
  };

  it('pods keep their template, and are ready when they serve what the cluster asked for', () => {
    const decision = decided('b', 'ours', 'b');
    expect(decision.desiredDeployment).toMatchObject({ by: `revision 2 (${hash('b')})`, revision: { revision: 2 } });
    expect(reasons(decision)).toMatchObject({
      Programmed: 'True Programmed',
      Synced: 'True Synced',
      Ready: 'True Ready',
    });
    expect(JSON.stringify(decision.apply)).toContain('wss://control.example/ws/data-plane');
  });

  it.each([
    ['a revision that is kept', 'a', 1, 'pods serve revision 1'],
    ['what the cluster never had', 'c', undefined, `pods serve ${hash('c')}`],
  ])('serve %s, where somebody deployed that', (_, letter, revision, message) => {
    const decision = decided(letter, 'theirs', letter);
    expect(reasons(decision)).toMatchObject({ Programmed: 'True Programmed', Ready: 'True DeployedElsewhere' });
    expect(decision.status).toMatchObject({ artifactHash: hash(letter), pods: { programmed: 2 } });
    expect(decision.status.revision).toBe(revision);
    expect(JSON.stringify(decision.status.conditions)).toContain(message);
    expect(decision.desiredDeployment).toMatchObject({ by: `revision 2 (${hash('b')})` });
    expect(decided(letter, 'theirs', 'b').status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Programmed', status: 'False', reason: 'RollingOut' }),
    );
  });

  it('another that is asked for takes its place', () => {
    const asks = deployment('d', '2026-01-01T00:00:00Z', { revision: 1 });
    const decision = decided('c', 'theirs', 'c', { deployments: [asks] });
    expect(decision.status).toMatchObject({ artifactHash: hash('a'), revision: 1 });
    expect(decision.desiredDeployment?.by).toContain('by Deployment d');
  });

  it('no rollout fails while it is away', () => {
    const at = there('b', 'ours', { by: `revision 1 (${hash('a')})`, deploymentId: 'ours' });
    const away = { ...at, seen: { ...at.seen, problem: { kind: 'away', message: 'no answer' } as const } };
    const status = {
      rollout: {
        strategy: 'InPlace',
        phase: 'Progressing',
        revision: 2,
        artifactHash: hash('b'),
        from: 1,
        progressedAt: '2025-01-01T00:00:00Z',
      },
    };
    const of = project({ ...spec, pods: { replicas: 1 } }, status);
    const all = { parts: two(), workload: served(1), pods: [pod('a')], controlPlane: away };
    const decision = decide(observed(of, all), compiled('b'), [], SETTINGS, NOW);
    expect(decision.status.rollout).toMatchObject({ phase: 'Progressing', revision: 2 });
    expect(reasons(decision)).toMatchObject({ Programmed: 'False RollingOut', Synced: 'Unknown ControlPlaneAway' });
  });
});
