/**
 * Rollouts on a real cluster (docs/rollouts.md), each under a client's load: what fails returns, a canary is promoted
 * or aborted by its own metrics, pods take artifacts in place, and an operator that is killed in the midst of any of it
 * changes nothing. Needs KUBECONFIG and the image in the cluster as GW_E2E_IMAGE, kubectl and helm.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { type InstalledOperator, image, installOperator, missing, skipped } from './installed-operator.ts';
import { DRAIN_SECONDS, execute, type Kubectl, lastingPods } from './kubectl.ts';
import { startLoad } from './load.ts';

let operator: InstalledOperator;
let k: Kubectl;

/** What `/a` is answered with: by the gateway itself, or by an upstream that takes its time; `post`: to POST. */
function apiSpec(dispatch: object, post?: object): string {
  const operation = (by: object) => ({ responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': by });
  const document = {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    paths: { '/a': { get: { operationId: 'a', ...operation(dispatch) }, ...(post ? { post: operation(post) } : {}) } },
  };
  return JSON.stringify({
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'ApiSpec',
    metadata: { name: 'shop' },
    spec: { source: { inline: JSON.stringify(document) } },
  });
}
const mock = (body: string, status = 200) => ({ name: 'mock', config: { body, status } });
const answering = (body: string, status = 200) => apiSpec(mock(body, status));
const proxied = (path: string) =>
  apiSpec({ name: 'http-upstream', config: { url: `http://upstream.${operator.namespace}.svc${path}` } });

/** Answers `/fast` at once and everything else after a second. */
const UPSTREAM = `
require('node:http').createServer((request, response) => {
  setTimeout(() => response.end('upstream'), request.url.startsWith('/fast') ? 0 : 1000);
}).listen(8080);
`;
const upstream = [
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'upstream', labels: { app: 'upstream' } },
    spec: {
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'upstream',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '-e', UPSTREAM],
          ports: [{ containerPort: 8080 }],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'upstream' },
    spec: { selector: { app: 'upstream' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
];
const project = () => ({
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'GatewayProject',
  metadata: { name: 'shop' },
  spec: {
    specs: { names: ['shop'] },
    plugins: [{ name: 'mock' }, { name: 'http-upstream' }],
    allowPlaintext: true,
    egress: { allow: [`upstream.${operator.namespace}.svc`, '10.0.0.0/8'] },
    pods: { image, replicas: 2, resources: { requests: { cpu: '10m', memory: '64Mi' } } },
    serve: { drainDelay: DRAIN_SECONDS },
  },
});

/** A connection that is kept alive would stay with the pods that it began with. */
const NEW_CONNECTIONS = { connection: 'close' };

interface Status {
  readonly observedGeneration?: number;
  readonly revision?: number;
  readonly latestRevision?: number;
  readonly rollout?: {
    readonly strategy: string;
    readonly phase: string;
    readonly revision: number;
    readonly step?: number;
    readonly share?: number;
    readonly steppedAt?: string;
  };
  readonly failed?: { readonly revision: number; readonly message: string };
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
}

/** Waits until its status is so; the last one is in what it rejects with. */
function until(fits: (status: Status) => boolean): Promise<Status> {
  return k.until('gatewayproject/shop', (object) => {
    const { status = {} } = object as { readonly status?: Status };
    const { conditions: _, ...shown } = status;
    expect(fits(status), JSON.stringify(shown)).toBe(true);
    return status;
  });
}

const status = () => until(() => true);

const reason = ({ conditions }: Status, type: string) => conditions?.find((each) => each.type === type)?.reason;
const served = ({ rollout, revision, latestRevision }: Status) =>
  rollout?.phase === 'Succeeded' && rollout.revision === latestRevision && revision === latestRevision;

/** Applies a spec and waits until its revision is under way; the number of it. */
async function change(spec: string): Promise<number> {
  const { latestRevision = 0 } = await status();
  await k.apply(spec);
  const begun = await until(({ latestRevision: latest = 0, rollout }) => {
    return latest > latestRevision && rollout?.revision === latest;
  });
  return begun.latestRevision ?? 0;
}

/** Begins a test: the next change goes by that strategy. */
async function strategy(rollout: { readonly strategy: string; readonly canary?: object }): Promise<void> {
  await k('patch', 'gatewayproject', 'shop', '--type=merge', '-p', JSON.stringify({ spec: { rollout } }));
  const generation = Number(await k.field('gatewayproject/shop', '{.metadata.generation}'));
  await until((now) => now.observedGeneration === generation);
  await k('rollout', 'status', 'deployment.apps/shop-gateway', '--timeout=60s');
}

/** Those that are to stay: others drain for longer than a test needs. */
const gatewayPods = async () => (await lastingPods(k, 'gw.dev/project=shop')).map((name) => `pod/${name}`);
const canaryPods = async () => (await k('get', 'pods', '-l', 'gw.dev/role=canary', '-o', 'name')).trim();

/** Kills the operator's leader as a node that goes does: no drain, no goodbye. */
async function killOperator(): Promise<void> {
  const pods = await execute('kubectl', ['-n', operator.system, 'get', 'pods', '-o', 'name']);
  for (const pod of pods.trim().split('\n')) {
    await execute('kubectl', ['-n', operator.system, 'delete', pod, '--grace-period=0', '--force', '--wait=false']);
  }
}

describe.skipIf(missing.length > 0)(`rollouts${skipped}`, () => {
  let url = '';

  beforeAll(async () => {
    operator = await installOperator('rollout', ['webhooks.enabled=false']);
    k = operator.k;
    await k.apply(upstream.map((object) => JSON.stringify(object)).join('\n---\n'));
    await k.apply(answering('one'));
    await k.apply(JSON.stringify(project()));
    await k.condition('gatewayproject/shop', 'Ready');
    url = `http://${await k.field('service/shop-gateway', '{.spec.clusterIP}')}`;
    await eventually(async () => expect(await text()).toBe('one'));
  });

  afterAll(() => operator?.uninstall(), 240_000);

  const text = async () => (await fetch(`${url}/a`, { headers: { connection: 'close' } })).text();
  /** Runs `work` under a load of which every request must be answered with 200. */
  const underLoad = async (work: () => Promise<void>) => {
    const load = startLoad(`${url}/a`, 50, {});
    try {
      await work();
      // What takes no time at all says nothing about requests.
      await eventually(() => expect(load.sent).toBeGreaterThan(20));
    } finally {
      await load.stop();
    }
    expect(load.failures).toEqual([]);
  };

  it('a revision whose pods end is taken back, with what they said, and is not tried again', async () => {
    await strategy({ strategy: 'Rolling' });
    const before = await text();
    await underLoad(async () => {
      const revision = await change(answering('env://NOT_SET'));
      const failed = await until(({ failed: its }) => its?.revision === revision);
      expect(failed.failed?.message).toMatch(/exit code 13: gw serve: env:\/\/NOT_SET/);
      const after = await until((now) => reason(now, 'Ready') === 'RolledBack');
      expect(after.revision).toBeLessThan(revision);
      expect(await text()).toBe(before);
    });
    const restarted = await status();
    await killOperator();
    await k.apply(answering('mended'));
    const { revision = 0 } = await until((now) => served(now) && now.failed === undefined);
    expect(revision).toBeGreaterThan(restarted.failed?.revision ?? 0);
    await eventually(async () => expect(await text()).toBe('mended'));
  });

  it('a rolling update goes on where the operator that began it is killed', async () => {
    await strategy({ strategy: 'Rolling' });
    await underLoad(async () => {
      await change(answering('rolled'));
      await killOperator();
      await until(served);
      await eventually(async () => expect(await text()).toBe('rolled'));
    });
  });

  const CANARY = {
    strategy: 'Canary',
    canary: {
      steps: [
        { weight: 20, pauseSeconds: 6 },
        { weight: 50, pauseSeconds: 6 },
      ],
      watchSeconds: 4,
      analysis: { minRequests: 10, maxErrorPercent: 5, maxP99Ms: 700 },
    },
  };

  it('a canary is promoted step by step, with the operator killed on the way, and no request is lost', async () => {
    await strategy(CANARY);
    const pods = await gatewayPods();
    await underLoad(async () => {
      const revision = await change(answering('canary'));
      const step = await until(({ rollout }) => rollout?.steppedAt !== undefined);
      expect(step.rollout).toMatchObject({ strategy: 'Canary', phase: 'Progressing', revision, step: 0, share: 33 });
      // The others are as they were.
      expect(await gatewayPods()).toEqual(expect.arrayContaining(pods));
      // When nodes route to it.
      await eventually(async () => expect(new Set(await Promise.all(Array.from({ length: 40 }, text))).size).toBe(2));
      await killOperator();
      await until(({ rollout }) => rollout?.step === 1 && rollout.steppedAt !== undefined);
      await until(served);
      await eventually(async () => expect(await canaryPods()).toBe(''));
      expect(new Set(await Promise.all(Array.from({ length: 20 }, text)))).toEqual(new Set(['canary']));
    });
  });

  it('a canary that answers with 5xx is aborted, and the others are not touched', async () => {
    await strategy(CANARY);
    const before = await text();
    const pods = await gatewayPods();
    const load = startLoad(`${url}/a`, 50, NEW_CONNECTIONS);
    const revision = await change(answering('broken', 503));
    const aborted = await until(({ rollout }) => rollout?.phase === 'Aborted');
    await load.stop();
    expect(aborted.failed).toMatchObject({ revision, message: expect.stringMatching(/answers are 5xx/) });
    await eventually(async () => expect(await canaryPods()).toBe(''));
    expect(await gatewayPods()).toEqual(pods);
    expect(new Set(await Promise.all(Array.from({ length: 20 }, text)))).toEqual(new Set([before]));
    expect(await k('get', 'events', '--field-selector', 'reason=CanaryAborted')).toContain('5xx');
  });

  it('a canary of which one operation fails is aborted, also where clients keep their connections', async () => {
    await strategy({ strategy: 'Rolling' });
    await change(apiSpec(mock('both'), mock('taken')));
    await until(served);
    // Nodes route to the pods before for a moment yet.
    const write = async () => (await fetch(`${url}/a`, { method: 'POST', headers: NEW_CONNECTIONS })).status;
    await eventually(async () =>
      expect(new Set(await Promise.all(Array.from({ length: 20 }, write)))).toEqual(new Set([200])),
    );
    const { steps, analysis } = CANARY.canary;
    await strategy({ ...CANARY, canary: { steps, analysis: { ...analysis, requireEvidence: true } } });
    const reads = startLoad(`${url}/a`, 30, {});
    // Each keeps one connection.
    const writers = Array.from({ length: 10 }, () => startLoad(`${url}/a`, 3, {}, 200, 'POST'));
    const revision = await change(apiSpec(mock('both'), mock('lost', 500)));
    const aborted = await until(({ rollout }) => rollout?.phase === 'Aborted');
    await Promise.all([reads, ...writers].map((load) => load.stop()));
    const failures = writers.flatMap((load) => load.failures);
    expect(aborted.failed).toMatchObject({ revision, message: expect.stringMatching(/^POST \/a: 100 % of its \d+ /) });
    expect(reads.failures).toEqual([]);
    // Of its answers alone, and few of them.
    expect(new Set(failures)).toEqual(new Set(['500']));
    expect(failures.length).toBeLessThan(writers.reduce((sent, load) => sent + load.sent, 0) / 2);
  });

  it('a canary that is slow is aborted', async () => {
    await strategy(CANARY);
    await change(proxied('/fast'));
    await until(served);
    const load = startLoad(`${url}/a`, 30, NEW_CONNECTIONS);
    const revision = await change(proxied('/slow'));
    const aborted = await until(({ rollout }) => rollout?.phase === 'Aborted');
    await load.stop();
    expect(aborted.failed).toMatchObject({ revision, message: expect.stringMatching(/its p99 is/) });
    expect(load.failures).toEqual([]);
  });

  it('pods take what is new in place, without a restart, also where the operator is killed', async () => {
    await strategy({ strategy: 'InPlace' });
    const pods = await gatewayPods();
    await underLoad(async () => {
      await change(answering('in place'));
      const now = await until(served);
      expect(now.rollout?.strategy).toBe('InPlace');
      await eventually(async () => expect(await text()).toBe('in place'));
      await change(answering('again'));
      await killOperator();
      await until(served);
      await eventually(async () => expect(await text()).toBe('again'));
    });
    expect(await gatewayPods()).toEqual(pods);
    // One that starts with the revision of its template has the newest before it is ready.
    await k('delete', (await gatewayPods())[0] ?? '', '--wait=false');
    await underLoad(async () => {
      await k('rollout', 'status', 'deployment.apps/shop-gateway', '--timeout=60s');
      expect(new Set(await Promise.all(Array.from({ length: 20 }, text)))).toEqual(new Set(['again']));
    });
  });

  it('a pod that refuses what is new ends the rollout, and what was served is served on', async () => {
    await strategy({ strategy: 'InPlace' });
    const before = await text();
    const revision = await change(answering('env://NOT_SET'));
    const failed = await until(({ failed: its }) => its?.revision === revision);
    expect(failed.failed?.message).toMatch(/refused it: env:\/\/NOT_SET/);
    await until((now) => reason(now, 'Ready') === 'RolledBack');
    expect(await text()).toBe(before);
    await eventually(async () =>
      expect(await k('get', 'events', '--field-selector', 'reason=RolledBack')).toContain('NOT_SET'),
    );
  });

  it('a Deployment that asks for a revision which fails says so', async () => {
    await strategy({ strategy: 'InPlace' });
    const { latestRevision = 0 } = await status();
    await k.apply(answering('env://NOT_SET_EITHER'));
    const { failed } = await until((now) => now.failed !== undefined && now.failed.revision > latestRevision);
    const deployment = {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'Deployment',
      metadata: { name: 'again' },
      spec: { project: 'shop', artifact: { revision: failed?.revision } },
    };
    await k.apply(JSON.stringify(deployment));
    await eventually(async () => expect(await k.field('gwdeploy/again', '{.status.outcome}')).toBe('Failed'));
    expect(await k.field('gwdeploy/again', '{.status.conditions[?(@.type=="Ready")].message}')).toContain('NOT_SET');
    await k('delete', 'gwdeploy', 'again');
  });

  it('the operator was never refused a right', async () => {
    const log = await operator.logs();
    expect(log).toContain('leading');
    expect(log.split('\n').filter((line) => /forbidden/i.test(line))).toEqual([]);
  });
});
