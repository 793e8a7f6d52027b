/**
 * Rollouts on a real cluster (docs/rollouts.md), each under a client's load: what fails returns, pods take artifacts
 * in place, and an operator that is killed in the midst of any of it changes nothing. Needs KUBECONFIG and the image in
 * the cluster as GW_E2E_IMAGE, kubectl and helm.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { missing, skipped } from './installed-operator.ts';
import { answering, type RolloutShop, reason, rolloutShop, served } from './rollout-shop.ts';

describe.skipIf(missing.length > 0)(`rollouts${skipped}`, () => {
  let shop: RolloutShop;

  beforeAll(async () => {
    shop = await rolloutShop('rollout');
  });

  afterAll(() => shop?.operator.uninstall(), 240_000);

  it('a revision whose pods end is taken back, with what they said, and is not tried again', async () => {
    const { k, text, underLoad, until, status, change, strategy, killOperator } = shop;
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
    const { text, underLoad, until, change, strategy, killOperator } = shop;
    await strategy({ strategy: 'Rolling' });
    await underLoad(async () => {
      await change(answering('rolled'));
      await killOperator();
      await until(served);
      await eventually(async () => expect(await text()).toBe('rolled'));
    });
  });

  it('pods take what is new in place, without a restart, also where the operator is killed', async () => {
    const { k, text, underLoad, until, change, strategy, gatewayPods, killOperator } = shop;
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
    const { k, text, until, change, strategy } = shop;
    await strategy({ strategy: 'InPlace' });
    const before = await text();
    const revision = await change(answering('env://NOT_SET_HERE'));
    const failed = await until(({ failed: its }) => its?.revision === revision);
    expect(failed.failed?.message).toMatch(/rejected it: env:\/\/NOT_SET_HERE/);
    await until((now) => reason(now, 'Ready') === 'RolledBack');
    expect(await text()).toBe(before);
    await eventually(async () =>
      expect(await k('get', 'events', '--field-selector', 'reason=RolledBack')).toContain('NOT_SET'),
    );
  });

  it('a Deployment that asks for a revision which fails says so', async () => {
    const { k, until, status, strategy } = shop;
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
    await shop.expectNoRefusedRight();
  });
});
