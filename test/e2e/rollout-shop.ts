/** A project that is rolled out under load, by an operator of its own that may be killed. */
import { expect } from 'vitest';
import { eventually } from '../eventually.ts';
import { type InstalledOperator, image, installOperator } from './installed-operator.ts';
import { DRAIN_SECONDS, execute, lastingPods } from './kubectl.ts';
import { startLoad } from './load.ts';

/** What `/a` is answered with: by the gateway itself, or by an upstream that takes its time; `post`: to POST. */
export function apiSpec(dispatch: object, post?: object): string {
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
export const mock = (body: string, status = 200) => ({ name: 'mock', config: { body, status } });
export const answering = (body: string, status = 200) => apiSpec(mock(body, status));

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
const project = (namespace: string) => ({
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'GatewayProject',
  metadata: { name: 'shop' },
  spec: {
    specs: { names: ['shop'] },
    plugins: [{ name: 'mock' }, { name: 'http-upstream' }],
    allowPlaintext: true,
    egress: { allow: [`upstream.${namespace}.svc`, '10.0.0.0/8'] },
    pods: { image, replicas: 2, resources: { requests: { cpu: '10m', memory: '64Mi' } } },
    serve: { drainDelay: DRAIN_SECONDS },
  },
});

/** A connection that is kept alive would stay with the pods that it began with. */
export const NEW_CONNECTIONS = { connection: 'close' };

export interface Status {
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
    readonly needsEvidence?: readonly string[];
  };
  readonly failed?: { readonly revision: number; readonly message: string };
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

export const reason = ({ conditions }: Status, type: string) => conditions?.find((each) => each.type === type)?.reason;
export const served = ({ rollout, revision, latestRevision }: Status) =>
  rollout?.phase === 'Succeeded' && rollout.revision === latestRevision && revision === latestRevision;

export async function rolloutShop(name: string) {
  const operator: InstalledOperator = await installOperator(name, ['webhooks.enabled=false', 'replicas=1']);
  const { k, namespace } = operator;

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

  /** What `/a` is answered with by an upstream that takes its time. */
  const proxied = (path: string) =>
    apiSpec({ name: 'http-upstream', config: { url: `http://upstream.${namespace}.svc${path}` } });

  await k.apply(upstream.map((object) => JSON.stringify(object)).join('\n---\n'));
  await k.apply(answering('one'));
  await k.apply(JSON.stringify(project(namespace)));
  await k.condition('gatewayproject/shop', 'Ready');
  const url = `http://${await k.field('service/shop-gateway', '{.spec.clusterIP}')}`;
  const text = async () => (await fetch(`${url}/a`, { headers: NEW_CONNECTIONS })).text();
  await eventually(async () => expect(await text()).toBe('one'));

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

  const expectNoRefusedRight = async () => {
    const log = await operator.logs();
    expect(log).toContain('leading');
    expect(log.split('\n').filter((line) => /forbidden/i.test(line))).toEqual([]);
  };

  const pods = { gatewayPods, canaryPods };
  const changes = { change, strategy, proxied, killOperator };
  return { operator, k, url, text, underLoad, until, status, expectNoRefusedRight, ...pods, ...changes };
}

export type RolloutShop = Awaited<ReturnType<typeof rolloutShop>>;

/** A document beside the shop's, of the same project: an edit of it is no edit of the shop's. */
export function otherSpec(body: string): string {
  const get = { operationId: 'other', responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': mock(body) };
  const document = { openapi: '3.1.0', info: { title: 'Other', version: '1' }, paths: { '/other': { get } } };
  return JSON.stringify({
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'ApiSpec',
    metadata: { name: 'other' },
    spec: { source: { inline: JSON.stringify(document) } },
  });
}
