/**
 * What a project declares of its pods and cannot start, on a real cluster under a client's load: the status says so,
 * with the pods' reason, and what serves serves on. Needs what rollout.load.test.ts needs.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { image, missing, skipped } from './installed-operator.ts';
import { answering, type RolloutShop, reason, rolloutShop, type Status, served } from './rollout-shop.ts';

const colon = image.lastIndexOf(':');
/** Of the operator's own repository, so that it may be named. */
const ABSENT = `${image.slice(0, colon)}:absent`;

describe.skipIf(missing.length > 0)(`pods as they are declared${skipped}`, () => {
  let shop: RolloutShop;

  beforeAll(async () => {
    shop = await rolloutShop('declared');
  });

  afterAll(() => shop?.operator.uninstall(), 240_000);

  const message = ({ conditions }: Status, type: string) =>
    conditions?.find((each) => each.type === type)?.message ?? '';
  const isReady = ({ conditions }: Status) => conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

  /** Changes its spec; the generation of it. */
  async function patch(spec: object): Promise<number> {
    const { k } = shop;
    await k('patch', 'gatewayproject', 'shop', '--type=merge', '-p', JSON.stringify({ spec }));
    return Number(await k.field('gatewayproject/shop', '{.metadata.generation}'));
  }

  /** Until the status of a generation says for good why its pods do not start; it is Ready at no time. */
  async function stalls(spec: object, why: RegExp): Promise<void> {
    const generation = await patch(spec);
    let said = false;
    await shop.until((now) => {
      if (now.observedGeneration === generation && isReady(now)) said = true;
      return said || (now.observedGeneration === generation && reason(now, 'Stalled') === 'PodsNotStarting');
    });
    const status = await shop.status();
    expect([said, reason(status, 'Programmed')]).toEqual([false, 'PodsNotStarting']);
    expect(message(status, 'Stalled')).toMatch(why);
  }

  const mended = async (spec: object) => {
    const generation = await patch(spec);
    return shop.until((now) => now.observedGeneration === generation && isReady(now));
  };
  const resources = { requests: { cpu: '10m', memory: '64Mi' } };

  it('an image that cannot be pulled is said, and no new revision is blamed for it', async () => {
    const { k, text, underLoad, until, change } = shop;
    await underLoad(async () => {
      await stalls(
        { pods: { image: ABSENT } },
        /pod shop-gateway-\S+: (ErrImagePull|ImagePullBackOff|ErrImageNeverPull)/,
      );
      await expect(k('wait', 'gatewayproject/shop', '--for=condition=Ready', '--timeout=1s')).rejects.toThrow();
      const revision = await change(answering('edited'));
      const waiting = await until((now) => reason(now, 'Programmed') === 'PodsNotStarting');
      expect([waiting.failed, waiting.rollout?.phase, waiting.rollout?.revision]).toEqual([
        undefined,
        'Progressing',
        revision,
      ]);
      expect(await text()).toBe('one');
      await mended({ pods: { image } });
      await until((now) => served(now) && now.revision === revision);
      await eventually(async () => expect(await text()).toBe('edited'));
    });
  });

  it('pods for which no node has room are said', async () => {
    await shop.underLoad(async () => {
      await stalls({ pods: { resources: { requests: { cpu: '900' } } } }, /Unschedulable: .*Insufficient cpu/);
      await mended({ pods: { resources } });
    });
  });

  it('an exceeded quota is named', async () => {
    const { k, underLoad } = shop;
    await underLoad(async () => {
      const quota = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'few' },
        spec: { hard: { pods: '0' } },
      };
      await k.apply(JSON.stringify(quota));
      await stalls({ pods: { labels: { team: 'shop' } } }, /no pod can be created: .*exceeded quota: few/);
      await k('delete', 'resourcequota', 'few');
      // The Deployment tries again after longer and longer; a change of it is tried at once.
      await mended({ pods: { labels: { team: 'shops' } } });
    });
  });

  it('the operator was never refused a right', async () => {
    await shop.expectNoRefusedRight();
  });
});
