/**
 * Canaries on a real cluster (docs/rollouts.md), under a client's load: promoted or aborted by their own metrics, also
 * where the operator is killed on the way. Needs what rollout.load.test.ts needs.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { missing, skipped } from './installed-operator.ts';
import { startLoad } from './load.ts';
import { answering, apiSpec, mock, NEW_CONNECTIONS, type RolloutShop, rolloutShop, served } from './rollout-shop.ts';

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

describe.skipIf(missing.length > 0)(`canaries${skipped}`, () => {
  let shop: RolloutShop;

  beforeAll(async () => {
    shop = await rolloutShop('canary');
  });

  afterAll(() => shop?.operator.uninstall(), 240_000);

  it('a canary is promoted step by step, with the operator killed on the way, and no request is lost', async () => {
    const { text, underLoad, until, change, strategy, gatewayPods, canaryPods, killOperator } = shop;
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
    const { url, k, text, until, change, strategy, gatewayPods, canaryPods } = shop;
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
    const { url, until, change, strategy } = shop;
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
    const { url, until, change, strategy, proxied } = shop;
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

  it('the operator was never refused a right', async () => {
    await shop.expectNoRefusedRight();
  });
});
