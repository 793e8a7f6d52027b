/**
 * What a platform team does to a gateway in a month, within minutes and under a steady load over HTTP/1.1 and
 * HTTP/2, kept and new connections: no request may fail.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { LONG } from '../property-runs.ts';
import { type InstalledOperator, image, installOperator, missing, skipped } from './installed-operator.ts';
import { DRAIN_SECONDS, evict, execute, lastingPods, lookAtPods } from './kubectl.ts';
import { reachable } from './reachable.ts';
import { selfSigned } from './self-signed.ts';
import { servedCertificate } from './served-certificate.ts';
import { type SteadyLoad, startSteadyLoad } from './steady-load.ts';

/** Requests a second. */
const RATE = LONG ? 200 : 50;
/** How often each is done: a month's changes with GW_TEST_LONG. */
const [ROLLED, IN_PLACE, TEMPLATES] = LONG ? [12, 8, 5] : [3, 3, 2];
const PATH = '/status';

const document = (version: number, more = '') => `
apiVersion: gw.dev/v1alpha1
kind: ApiSpec
metadata: {name: api, labels: {app: shop}}
spec:
  source:
    inline: |
      openapi: 3.1.0
      info: {title: Shop, version: "1"}
      paths:
        /status:
          get:
            operationId: status
            responses: {"200": {description: OK}}
            ${more}
            x-gw-dispatch: {name: mock, config: {body: "version ${version}", status: ${more === '' ? 200 : 500}}}
`;

const project = (spec: object) =>
  JSON.stringify({
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GatewayProject',
    metadata: { name: 'shop' },
    spec: {
      specs: { selector: { matchLabels: { app: 'shop' } } },
      plugins: [{ name: 'mock' }],
      tls: { secret: 'shop-tls' },
      serve: { drainDelay: DRAIN_SECONDS },
      ...spec,
      pods: {
        image,
        replicas: 2,
        resources: { requests: { cpu: '100m', memory: '96Mi' } },
        ...('pods' in spec ? (spec.pods as object) : {}),
      },
    },
  });

interface Project {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly artifactHash?: string;
    readonly rollout?: { readonly phase: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

describe.skipIf(missing.length > 0)(`under a steady load${skipped}`, () => {
  let operator: InstalledOperator;
  let clients: SteadyLoad;
  let url = '';
  let version = 0;

  const hash = () => operator.k.field('gatewayproject/shop', '{.status.artifactHash}');
  const condition = (type: string) =>
    operator.k.field('gatewayproject/shop', `{.status.conditions[?(@.type=="${type}")].status}`);
  /** Waits until its state is so. */
  const until = (look: (project: Project) => void) =>
    operator.k.until('gatewayproject/shop', (state) => look(state as Project));
  const expectReady = ({ metadata, status }: Project) => {
    expect(status?.observedGeneration).toBe(metadata.generation);
    const is = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    expect(is, JSON.stringify({ ...status?.rollout, conditions: status?.conditions })).toBe('True');
  };
  const ready = () => until(expectReady);
  /** Applies and waits until every pod serves it; seconds that took, with kubectl's own. */
  const rollOut = async () => {
    const before = await hash();
    const started = performance.now();
    await operator.k.apply(document(++version));
    await until((state) => {
      expect(state.status?.artifactHash).not.toBe(before);
      expectReady(state);
    });
    return (performance.now() - started) / 1000;
  };
  const say = (what: string, seconds: readonly number[]) => {
    const sorted = seconds.toSorted((a, b) => a - b).map((each) => each.toFixed(1));
    console.log(`${what}: apply to Ready, median ${sorted[Math.floor(sorted.length / 2)]} s, most ${sorted.at(-1)} s`);
  };
  const stopClients = async () => {
    await clients.stop();
    console.log(clients.summary());
  };
  const pods = () => lastingPods(operator.k, 'gw.dev/project=shop');
  const expectNoFailure = () => expect(clients.totals.failures.length, clients.summary()).toBe(0);
  const change = async (spec: object) => {
    await operator.k.apply(project(spec));
    await ready();
  };

  beforeAll(async () => {
    operator = await installOperator('traffic');
    await operator.k.apply(selfSigned('shop-tls', ['shop.example.org']));
    await operator.k.apply(document(version));
    await operator.k.apply(project({}));
    await ready();
    url = `https://${await operator.k.field('service/shop-gateway', '{.spec.clusterIP}')}${PATH}`;
    await reachable(url);
    clients = startSteadyLoad(url, RATE);
    await eventually(() => expect(clients.totals.answered).toBeGreaterThan(RATE));
  });

  afterAll(async () => {
    await clients?.stop();
    await operator?.uninstall();
  });

  it('rolls artifacts one after another, with the operator killed among them', async () => {
    const quiet: number[] = [];
    for (let i = 0; i < ROLLED; i++) {
      if (i % 4 === 1) {
        const leader = (
          await execute('kubectl', [
            '-n',
            operator.system,
            'get',
            'lease',
            'gw-operator',
            '-o',
            'jsonpath={.spec.holderIdentity}',
          ])
        ).trim();
        const killing = execute('kubectl', [
          '-n',
          operator.system,
          'delete',
          'pod',
          leader,
          '--grace-period=0',
          '--force',
        ]);
        await Promise.all([rollOut(), killing]);
      } else quiet.push(await rollOut());
    }
    say('rolling', quiet);
    expectNoFailure();
  }, 900_000);

  it('takes artifacts in place, without a new pod', async () => {
    await change({ rollout: { strategy: 'InPlace' } });
    // The change itself makes new pods: they are there when an artifact is served after it.
    await rollOut();
    const before = await eventually(async () => {
      const lasting = await pods();
      expect(lasting).toHaveLength(2);
      return lasting;
    });
    const seconds: number[] = [];
    for (let i = 0; i < IN_PLACE; i++) seconds.push(await rollOut());
    say('in place', seconds);
    expect(await pods()).toEqual(before);
    expectNoFailure();
  });

  it('changes the template of its pods again and again', async () => {
    for (let i = 0; i < TEMPLATES; i++) {
      await change({ pods: { annotations: { 'example.org/round': String(i) } } });
      const shown = '{.spec.template.metadata.annotations.example\\.org/round}';
      await eventually(async () =>
        expect(await operator.k.field('deployment.apps/shop-gateway', shown)).toBe(String(i)),
      );
      await operator.k('rollout', 'status', 'deployment.apps/shop-gateway', '--timeout=120s');
    }
    expectNoFailure();
  });

  it('promotes a canary, and aborts one that fails', async () => {
    const canary = {
      steps: [{ weight: 50, pauseSeconds: 4 }],
      watchSeconds: 4,
      analysis: { minRequests: 20, maxErrorPercent: 50 },
    };
    await change({ rollout: { strategy: 'Canary', canary } });
    await rollOut();
    expectNoFailure();
    const good = await hash();
    // A share of the answers is 500 while the canary is there: that is what it is for.
    await stopClients();
    expectNoFailure();
    clients = startSteadyLoad(url, RATE);
    await operator.k.apply(document(++version, 'x-canary: bad'));
    await until(({ status }) => {
      expect(status?.rollout?.phase).toBe('Aborted');
      expect(status?.artifactHash).toBe(good);
    });
    // Pods that drain answer what comes on connections that are kept.
    await eventually(async () => {
      expect(await operator.k('get', 'deployments.apps', '-o', 'name')).not.toContain('canary');
      expect(await operator.k('get', 'pods', '-l', 'gw.dev/role=canary', '-o', 'name')).toBe('');
    });
    await stopClients();
    // Nothing but the canary's own answers.
    expect(
      clients.totals.failures.every(({ what }) => what === '500'),
      clients.summary(),
    ).toBe(true);
    await operator.k.apply(document(++version));
    clients = startSteadyLoad(url, RATE);
    await ready();
  });

  it('scales from two pods to five and back', async () => {
    await change({ pods: { replicas: 5 } });
    await change({ pods: { replicas: 2 } });
    await eventually(async () => expect(await pods()).toHaveLength(2));
    expectNoFailure();
  });

  it('is drained from its node', async () => {
    // A canary's pods that cannot be placed while the only node takes none would hold up the budget.
    await until(({ status }) => expect(status?.rollout?.phase).toBe('Succeeded'));
    await eventually(async () => expect(await pods()).toHaveLength(2));
    const node = (await execute('kubectl', ['get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}'])).trim();
    const names = await pods();
    expect(names).toHaveLength(2);
    await execute('kubectl', ['cordon', node]);
    try {
      await eventually(() => evict(operator.namespace, String(names[0])));
      // The budget keeps the last one until another takes the first one's place.
      await expect(evict(operator.namespace, String(names[1]))).rejects.toThrow(/disruption budget/);
    } finally {
      await execute('kubectl', ['uncordon', node]);
    }
    await eventually(() => evict(operator.namespace, String(names[1])));
    await ready();
    expectNoFailure();
  });

  it('changes certificate and secrets', async () => {
    const served = () => servedCertificate(url);
    const first = await served();
    await operator.k.apply(selfSigned('shop-tls', ['shop.example.org']));
    await lookAtPods(operator.k, 'gw.dev/project=shop');
    await eventually(async () => expect(await served()).not.toBe(first));
    await operator.k('create', 'secret', 'generic', 'shop-env', '--from-literal=TOKEN=one');
    await change({ secrets: { env: ['shop-env'] } });
    const before = await pods();
    await operator.k.apply(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'shop-env' },
        stringData: { TOKEN: 'two' },
      }),
    );
    // Or it looks at Secrets within a minute, as in pods.test.ts.
    await operator.k('annotate', 'gatewayproject', 'shop', 'example.org/looked-at=now');
    await eventually(async () => expect((await pods()).some((pod) => before.includes(pod))).toBe(false));
    await ready();
    expectNoFailure();
  });

  it('has not failed once', async () => {
    // Those that still drain are asked until they have gone.
    await eventually(async () =>
      expect(
        (await operator.k('get', 'pods', '-l', 'gw.dev/project=shop', '-o', 'name')).trim().split('\n'),
      ).toHaveLength(2),
    );
    await stopClients();
    expectNoFailure();
    expect(clients.totals.answered).toBe(clients.totals.sent);
    expect(await condition('Ready')).toBe('True');
  });
});
