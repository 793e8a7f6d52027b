/**
 * Incidents on a real cluster (docs/rollouts.md), under a client's load: what failed is not what a rollback goes to.
 * Needs what rollout.load.test.ts needs.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { GW_OPERATOR } from '../programs/gw-operator.ts';
import { missing, skipped } from './installed-operator.ts';
import { execute } from './kubectl.ts';
import { startLoad } from './load.ts';
import { answering, NEW_CONNECTIONS, type RolloutShop, rolloutShop, served } from './rollout-shop.ts';

const CANARY = {
  strategy: 'Canary',
  canary: {
    steps: [{ weight: 50, pauseSeconds: 4 }],
    watchSeconds: 0,
    analysis: { minRequests: 5, maxErrorPercent: 5 },
  },
};

describe.skipIf(missing.length > 0)(`incidents${skipped}`, () => {
  let shop: RolloutShop;
  const gw = (...args: readonly string[]) =>
    execute(process.execPath, [GW_OPERATOR, ...args, '-n', shop.operator.namespace]);

  beforeAll(async () => {
    shop = await rolloutShop('incident');
  });

  afterAll(() => shop?.operator.uninstall(), 240_000);

  it('a rollback goes to what was served before, past a canary that was aborted, and no request is lost', async () => {
    const { url, text, underLoad, until, change, strategy } = shop;
    await strategy(CANARY);
    const good = (await shop.status()).revision;
    const load = startLoad(`${url}/a`, 50, NEW_CONNECTIONS);
    const broken = await change(answering('broken', 503));
    const aborted = await until(({ rollout }) => rollout?.phase === 'Aborted');
    expect(aborted.failed).toMatchObject({ revision: broken });
    const newest = await change(answering('newest'));
    await until(served);
    await load.stop();
    await underLoad(async () => {
      expect(await gw('rollback', 'shop')).toContain(`shop serves revision ${good}`);
      await eventually(async () =>
        expect(new Set(await Promise.all(Array.from({ length: 20 }, text)))).toEqual(new Set(['one'])),
      );
    });
    expect(await gw('status', 'shop', '-o', 'json').catch(String)).toMatch(/"failed": \{/);
    // By its number it is to be had, with a warning.
    const byNumber = await gw('rollback', 'shop', '--to-revision', String(broken), '--no-wait');
    expect(byNumber).toMatch(new RegExp(`^warning: revision ${broken} failed to roll out: .*5xx`));
    await gw('rollback', 'shop', '--end');
    await until((now) => served(now) && now.revision === newest);
  });

  it('the operator was never refused a right', async () => {
    await shop.expectNoRefusedRight();
  });
});
