/** A gateway of one pod, which is evicted while nothing can take its place. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { type InstalledOperator, image, missing, skipped } from './installed-operator.ts';
import { evict, execute } from './kubectl.ts';
import { reachable } from './reachable.ts';
import { sharedOperator } from './shared-operator.ts';
import { startSteadyLoad } from './steady-load.ts';

const manifests = `
apiVersion: gw.dev/v1alpha1
kind: ApiSpec
metadata: {name: shop}
spec:
  source:
    inline: |
      openapi: 3.1.0
      info: {title: Shop, version: "1"}
      paths:
        /status:
          get:
            responses: {"200": {description: OK}}
            x-gw-dispatch: {name: mock, config: {body: open}}
---
apiVersion: gw.dev/v1alpha1
kind: GatewayProject
metadata: {name: shop}
spec:
  specs: {names: [shop]}
  plugins: [{name: mock}]
  pods: {replicas: 1, image: "${image}", resources: {requests: {cpu: 20m, memory: 96Mi}}}
  serve: {drainDelay: 10}
`;

/** Requests a second. */
const RATE = 50;

describe.skipIf(missing.length > 0)(`eviction${skipped}`, () => {
  let operator: InstalledOperator;

  beforeAll(async () => {
    operator = await sharedOperator('eviction');
    await operator.k.apply(manifests);
    await operator.k.condition('gatewayproject/shop', 'Ready');
  });
  afterAll(() => operator?.uninstall());

  it('leaves the only pod of a Service serving until the next one is ready', async () => {
    const pods = async () => (await operator.k('get', 'pods', '-l', 'gw.dev/project=shop', '-o', 'name')).trim();
    const only = await pods();
    const node = await operator.k.field(only, '{.spec.nodeName}');
    const url = `http://${await operator.k.field('service/shop-gateway', '{.spec.clusterIP}')}/status`;
    await reachable(url);
    const load = startSteadyLoad(url, RATE);
    try {
      await eventually(() => expect(load.totals.answered).toBeGreaterThan(RATE));
      // Nothing can take its place for longer than it takes to notice that a pod is not ready.
      await execute('kubectl', ['cordon', node]);
      try {
        await evict(operator.namespace, only.replace('pod/', ''));
        const evicted = load.totals.sent;
        await eventually(() => expect(load.totals.sent).toBeGreaterThan(evicted + 10 * RATE));
      } finally {
        await execute('kubectl', ['uncordon', node]);
      }
      await eventually(async () => expect(await pods()).not.toContain(only));
    } finally {
      await load.stop();
      process.stderr.write(`${load.summary()}\n`);
    }
    expect(load.totals.failures.length, load.summary()).toBe(0);
    expect(load.totals.answered).toBe(load.totals.sent);
  });
});
