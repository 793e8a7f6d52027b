/** Input of a GatewayProject's decision, for tests. */
import type { Refusal } from '../../api/refusal.ts';
import { type Deployment, deployments, type GatewayProject, gatewayProjects } from '../../api/resources.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import { artifactParts } from '../../objects/artifact-parts.ts';
import { ANNOTATION_REVISION } from '../../objects/names.ts';
import { decide as decideBy, planRollout, type Settings } from './decide.ts';
import type { Observed } from './observe.ts';
import type { PodState } from './pods/pod-state.ts';
import type { Compilation } from './sources/compilation.ts';

export const NOW = new Date('2026-01-02T03:04:05Z');
export const SETTINGS = { image: 'gw:test', operatorNamespace: 'gw-system' };
export const hash = (letter: string) => `sha256:${letter.repeat(64)}`;

export function project(spec: object = {}, status?: object): GatewayProject {
  return gatewayProjects.parse({
    metadata: { name: 'shop', namespace: 'default', uid: 'uid-1', generation: 3 },
    spec: { specs: { selector: {} }, ...spec },
    ...(status ? { status } : {}),
  });
}

export function compiled(letter: string, size = 100): Compilation {
  return {
    ok: true,
    archive: new Uint8Array(size),
    artifactHash: hash(letter),
    tarSha256: letter.repeat(64),
    diagnostics: [],
  };
}

export const failed: Compilation = {
  ok: false,
  diagnostics: [
    {
      code: 'E1003',
      severity: 'error',
      message: 'unresolved $ref',
      file: 'a.yaml',
      pointer: '/paths',
      hint: 'declare it',
      apiSpec: 'a',
    },
  ],
};

/** Returns the ConfigMaps of a kept revision. */
export function kept(owner: GatewayProject, revision: number, letter: string): readonly KubeObject[] {
  const parts = artifactParts(
    owner,
    { revision, artifactHash: hash(letter), archive: letter.repeat(64), createdAt: '', parts: 1 },
    new Uint8Array(10),
  );
  return parts.map((part) => ({ ...part, metadata: { ...part.metadata, creationTimestamp: '2026-01-01T00:00:00Z' } }));
}

export function observed(of: GatewayProject, more: Partial<Observed> = {}): Observed {
  return {
    project: of,
    sources: { specs: [], plugins: [], builtins: new Map() },
    trustedKeys: [],
    deployments: [],
    parts: [],
    owned: [],
    foreign: [],
    pods: [],
    refusals: [],
    keyProblems: [],
    taken: [],
    notInstalled: [],
    notAllowed: [],
    secrets: { named: false, problems: [] },
    ...more,
  };
}

/** Decides as a reconcile does; `outdated`: the pods wait for their turn to be replaced. */
export function decide(
  seen: Observed,
  compilation: Compilation | undefined,
  problems: readonly Refusal[],
  settings: Settings,
  now: Date,
) {
  const plan = planRollout(seen, compilation, settings, now);
  return { ...decideBy(seen, plan, compilation, problems, now), outdated: plan.rollout.outdated };
}

export const pod = (letter: string, more: Partial<PodState> = {}): PodState => ({
  name: `p-${letter}`,
  ready: true,
  terminating: false,
  serves: hash(letter),
  ...more,
});
export const served = (revision: number): NonNullable<Observed['workload']> => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'shop-gateway', annotations: { [ANNOTATION_REVISION]: String(revision) } },
});
export const deployment = (name: string, created: string, artifact: object): Deployment =>
  deployments.parse({
    metadata: { name, namespace: 'default', creationTimestamp: created },
    spec: { project: 'shop', artifact },
  });

export const reasons = (decision: ReturnType<typeof decide>) =>
  Object.fromEntries(
    (decision.status.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
export const applied = (decision: ReturnType<typeof decide>) => decision.apply.map(({ kind }) => kind);
