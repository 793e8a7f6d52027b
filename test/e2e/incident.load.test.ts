/**
 * Incidents on a real cluster (docs/rollouts.md), under a client's load: what failed is not what a rollback goes to.
 * Needs what rollout.load.test.ts needs.
 */
import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { GW_OPERATOR } from '../programs/gw-operator.ts';
import { missing, skipped } from './installed-operator.ts';
import { startLoad } from './load.ts';
import {
  answering,
  apiSpec,
  mock,
  NEW_CONNECTIONS,
  otherSpec,
  type RolloutShop,
  reason,
  rolloutShop,
  served,
} from './rollout-shop.ts';

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
  /** What it printed, whatever its exit code. */
  const gw = (...args: readonly string[]) =>
    new Promise<string>((resolve) =>
      execFile(process.execPath, [GW_OPERATOR, ...args, '-n', shop.operator.namespace], (_, out, err) =>
        resolve(out + err),
      ),
    );

  /** Statuses of twenty requests that write. */
  const write = async () => {
    const one = async () => (await fetch(`${shop.url}/a`, { method: 'POST', headers: NEW_CONNECTIONS })).status;
    return new Set(await Promise.all(Array.from({ length: 20 }, one)));
  };

  beforeAll(async () => {
    shop = await rolloutShop('incident');
  });

  afterAll(() => shop?.operator.uninstall(), 240_000);

  it('wait returns once what was applied is served, each time, whatever the operator was doing', async () => {
    const { k, text, underLoad, strategy } = shop;
    await strategy({ strategy: 'InPlace' });
    await underLoad(async () => {
      for (const body of ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'one']) {
        await k.apply(answering(body));
        expect(await gw('wait', 'shop', '--timeout', '120')).toMatch(/pod\(s\) serve the newest artifact/);
        expect(await text()).toBe(body);
      }
    });
    await strategy({ strategy: 'Rolling' });
  });

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
    expect(await gw('status', 'shop', '-o', 'json')).toMatch(/"failed": \{/);
    // By its number it is to be had, with a warning.
    const byNumber = await gw('rollback', 'shop', '--to-revision', String(broken), '--no-wait');
    expect(byNumber).toMatch(new RegExp(`^warning: revision ${broken} failed to roll out: .*5xx`, 'm'));
    await gw('rollback', 'shop', '--end');
    await until((now) => served(now) && now.revision === newest);
  });

  it('what a canary measured as bad waits for evidence, also when another document is edited', async () => {
    const { url, k, until, change, strategy } = shop;
    await strategy({ strategy: 'Rolling' });
    const specs = { spec: { specs: { names: ['shop', 'other'] } } };
    await k.apply(otherSpec('first'));
    await k('patch', 'gatewayproject', 'shop', '--type=merge', '-p', JSON.stringify(specs));
    await change(apiSpec(mock('both'), mock('taken')));
    const { revision: good } = await until((now) => served(now) && reason(now, 'Ready') === 'Ready');
    await strategy(CANARY);
    const reads = startLoad(`${url}/a`, 30, NEW_CONNECTIONS);
    const writes = startLoad(`${url}/a`, 30, NEW_CONNECTIONS, 200, 'POST');
    await change(apiSpec(mock('both'), mock('lost', 500)));
    const aborted = await until(({ rollout }) => rollout?.phase === 'Aborted');
    await writes.stop();
    expect(aborted.failed?.message).toMatch(/^POST \/a: /);
    // At a quiet hour: nobody writes.
    const revision = await change(otherSpec('second'));
    const stalled = await until(
      (now) => now.rollout?.needsEvidence !== undefined && reason(now, 'Stalled') !== undefined,
    );
    expect(stalled.rollout).toMatchObject({ phase: 'Progressing', revision, needsEvidence: ['POST /a'] });
    expect([reason(stalled, 'Ready'), reason(stalled, 'Stalled')]).toEqual(['NotReady', 'NeedsEvidence']);
    const waited = await gw('wait', 'shop');
    expect(waited).toMatch(/POST \/a: .*5xx/);
    // Writers come back, and it is aborted by what they are answered.
    const writers = startLoad(`${url}/a`, 30, NEW_CONNECTIONS, 200, 'POST');
    await until(({ rollout, failed }) => rollout?.phase === 'Aborted' && failed?.revision === revision);
    await writers.stop();
    await eventually(async () => expect(await write()).toEqual(new Set([200])));
    expect((await shop.status()).rollout?.needsEvidence).toBeUndefined();
    // Without steps, too; a person's word is what lets it pass.
    await strategy({ strategy: 'Rolling' });
    const held = await until(({ rollout }) => rollout?.needsEvidence !== undefined);
    expect([held.revision, held.rollout?.revision]).toEqual([good, revision]);
    const told = await gw('retry', 'shop');
    expect(told).toMatch(/POST \/a of revision \d+: POST \/a: .*5xx/);
    await until((now) => served(now) && now.revision === revision);
    await reads.stop();
    expect(reads.failures).toEqual([]);
    expect(await gw('rollback', 'shop')).toContain(`serves revision ${good}`);
    await eventually(async () => expect(await write()).toEqual(new Set([200])));
  });

  it('the operator was never refused a right', async () => {
    await shop.expectNoRefusedRight();
  });
});
