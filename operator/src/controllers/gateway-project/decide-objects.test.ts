/** Which objects a project gets, and what becomes of the others when some cannot be made. */
import { describe, expect, it } from 'vitest';
import {
  type GatewayProject,
  gatewayProjects,
  httpRoutes,
  ingresses,
  podMonitors,
  workloads,
} from '../../api/resources.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import { decideObjects } from './decide-objects.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const REVISION = {
  revision: 1,
  artifactHash: `sha256:${'a'.repeat(64)}`,
  archive: 'a'.repeat(64),
  createdAt: '',
  parts: 1,
};
const GIVEN = { image: 'gw:test', operatorNamespace: 'gw-system', trustedKeys: [] };

const project = (spec: object = {}) =>
  gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 1 },
    spec: { specs: { selector: {} }, ...spec },
  });
const decided = (of: GatewayProject, more: Partial<Parameters<typeof decideObjects>[0]> = {}, revision = REVISION) =>
  decideObjects({ ...observedOf(of), ...more }, { template: revision, outdated: false }, GIVEN, NOW);
const kinds = (objects: readonly KubeObject[]) => objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
const object = (kind: string, name: string): KubeObject => ({ apiVersion: 'x', kind, metadata: { name, uid: name } });

const everything = project({
  pods: { autoscaling: { maxReplicas: 5 } },
  exposure: { ingress: { hosts: ['shop.example.com'] }, httpRoute: { parentRefs: [{ name: 'gate' }] } },
  monitoring: { podMonitor: {}, dashboard: {} },
});

describe('the objects of a project', () => {
  it('are few where it asks for nothing more', () => {
    expect(kinds(decided(project()).apply)).toEqual([
      'ServiceAccount/shop-gateway',
      'Service/shop-gateway',
      'NetworkPolicy/shop-gateway',
      'Deployment/shop-gateway',
    ]);
  });

  it('are all that it asks for', () => {
    expect(kinds(decided(everything).apply)).toEqual([
      'ServiceAccount/shop-gateway',
      'Service/shop-gateway',
      'NetworkPolicy/shop-gateway',
      'PodDisruptionBudget/shop-gateway',
      'Deployment/shop-gateway',
      'HorizontalPodAutoscaler/shop-gateway',
      'Ingress/shop-gateway',
      'HTTPRoute/shop-gateway',
      'PodMonitor/shop-gateway',
      'ConfigMap/shop-gateway-dashboard',
    ]);
  });

  it('go when it asks for them no longer; what is not of these names is left alone', () => {
    const owned = [
      ...decided(everything).apply,
      object('ConfigMap', 'shop-parts-0'),
      object('Deployment', 'shop-gateway-of-yore'),
    ];
    expect(kinds(decided(project(), { owned }).remove)).toEqual([
      'PodDisruptionBudget/shop-gateway',
      'HorizontalPodAutoscaler/shop-gateway',
      'Ingress/shop-gateway',
      'HTTPRoute/shop-gateway',
      'PodMonitor/shop-gateway',
      'ConfigMap/shop-gateway-dashboard',
    ]);
  });

  it('have no budget for a single pod, nor where that is switched off', () => {
    const budget = (pods: object) =>
      kinds(decided(project({ pods })).apply).includes('PodDisruptionBudget/shop-gateway');
    expect(budget({ replicas: 1 })).toBe(false);
    expect(budget({ replicas: 2 })).toBe(true);
    expect(budget({ autoscaling: { minReplicas: 1, maxReplicas: 2 } })).toBe(true);
    expect(budget({ replicas: 2, disruptionBudget: { enabled: false } })).toBe(false);
  });

  it('leave the workload where there is nothing to serve: traffic flows through it', () => {
    const owned = [object('Deployment', 'shop-gateway'), object('Service', 'shop-gateway')];
    const { remove } = decideObjects({ ...observedOf(project()), owned }, { outdated: false }, GIVEN, NOW);
    expect(remove).toEqual([]);
  });
});

function observedOf(of: GatewayProject): Parameters<typeof decideObjects>[0] {
  return {
    project: of,
    secrets: { named: false, problems: [] },
    keyProblems: [],
    owned: [],
    foreign: [],
    taken: [],
    notInstalled: [],
    notAllowed: [],
  };
}

describe('where something cannot be made', () => {
  it('a kind that is not installed is named, and everything else goes on', () => {
    const decision = decided(everything, { notInstalled: [httpRoutes, podMonitors] });
    expect(kinds(decision.apply)).not.toContain('HTTPRoute/shop-gateway');
    expect(kinds(decision.apply)).toContain('Deployment/shop-gateway');
    expect(decision.problems.map(({ reason, message }) => `${reason} ${message}`)).toEqual([
      'ApiNotInstalled the cluster has no kind HTTPRoute of gateway.networking.k8s.io/v1',
      'ApiNotInstalled the cluster has no kind PodMonitor of monitoring.coreos.com/v1',
    ]);
    expect(decision.requeueAfterMs).toBe(30_000);
  });

  it('a kind that the operator may not see is named, and everything else goes on', () => {
    const decision = decided(everything, { notAllowed: [ingresses] });
    expect(kinds(decision.apply)).not.toContain('Ingress/shop-gateway');
    expect(kinds(decision.apply)).toContain('Deployment/shop-gateway');
    expect(decision.problems).toMatchObject([
      { reason: 'ApiNotAllowed', message: expect.stringContaining('ingresses.networking.k8s.io') },
    ]);
    expect(decision.requeueAfterMs).toBe(30_000);
  });

  it('an Ingress of somebody else is left alone, and everything else goes on', () => {
    const decision = decided(everything, { taken: [object('Ingress', 'shop-gateway')] });
    expect(kinds(decision.apply)).not.toContain('Ingress/shop-gateway');
    expect(decision.problems).toMatchObject([{ reason: 'Conflict' }]);
  });

  it('a Secret that is missing holds the pods back, and nothing else', () => {
    const problems = [{ reason: 'SourceNotFound', message: 'Secret "tls" is not there' } as const];
    const decision = decided(everything, { secrets: { named: true, problems } });
    expect(kinds(decision.apply)).not.toContain('Deployment/shop-gateway');
    expect(kinds(decision.apply)).toContain('Service/shop-gateway');
    expect(decision.problems).toEqual(problems);
    expect(decision.requeueAfterMs).toBe(10_000);
  });

  it('a template that would lose the pods holds them back too', () => {
    const of = project({ pods: { template: { metadata: { labels: { 'gw.dev/project': 'x' } } } } });
    const decision = decided(of);
    expect(kinds(decision.apply)).not.toContain('Deployment/shop-gateway');
    expect(decision.problems).toMatchObject([
      { reason: 'InvalidSpec', message: expect.stringContaining('gw.dev/project') },
    ]);
  });

  it('the number of pods is not handed over either', () => {
    const workload = workloads.parse({ metadata: { name: 'shop-gateway', uid: 'w' }, spec: { replicas: 4 } });
    expect(decided(everything, { workload }).handOver).toMatchObject({ spec: { replicas: 4 } });
    const problems = [{ reason: 'SourceNotFound', message: 'x' } as const];
    expect(decided(everything, { workload, secrets: { named: true, problems } }).handOver).toBeUndefined();
  });
});
