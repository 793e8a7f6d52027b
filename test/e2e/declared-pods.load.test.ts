/**
 * What a project declares of its pods and cannot start, on a real cluster under a client's load: the status says so,
 * with the pods' reason, and what serves serves on. Needs what rollout.load.test.ts needs.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { image, missing, skipped } from './installed-operator.ts';
import {
  answering,
  NEW_CONNECTIONS,
  type RolloutShop,
  reason,
  rolloutShop,
  type Status,
  served,
} from './rollout-shop.ts';

const colon = image.lastIndexOf(':');
/** Of the operator's own repository, so that it may be named. */
const ABSENT = `${image.slice(0, colon)}:absent`;

/** A document beside the shop's, for clients with the key of a Secret. */
const keyedSpec = JSON.stringify({
  apiVersion: 'gw.dev/v1alpha1',
  kind: 'ApiSpec',
  metadata: { name: 'keyed' },
  spec: {
    source: {
      inline: JSON.stringify({
        openapi: '3.1.0',
        info: { title: 'Keyed', version: '1' },
        components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
        security: [{ key: [] }],
        paths: {
          '/keyed': {
            get: {
              operationId: 'keyed',
              responses: { 200: { description: 'OK' } },
              'x-gw-middlewares': [{ name: 'apikey-auth', config: { keys: [{ key: 'env://SHOP_KEY', id: 'shop' }] } }],
              'x-gw-dispatch': { name: 'mock', config: { body: 'keyed' } },
            },
          },
        },
      }),
    },
  },
});

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

  it('a rotated Secret with which no pod starts is said, and what serves serves on', async () => {
    const { k, text, underLoad, until } = shop;
    const rotate = (value: string) =>
      k.apply(
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'keys' },
          stringData: { SHOP_KEY: value },
        }),
      );
    await rotate('first');
    await k.apply(keyedSpec);
    await mended({
      specs: { names: ['shop', 'keyed'] },
      plugins: [{ name: 'mock' }, { name: 'http-upstream' }, { name: 'apikey-auth' }],
      secrets: { env: ['keys'] },
    });
    const keyed = async (key: string) =>
      (await fetch(`${shop.url}/keyed`, { headers: { ...NEW_CONNECTIONS, 'x-api-key': key } })).status;
    await until((now) => isReady(now) && served(now));
    await eventually(async () => expect(await keyed('first')).toBe(200));
    const before = await text();
    await underLoad(async () => {
      // An empty variable is as good as none: a pod that begins with it ends with exit code 13.
      await rotate('');
      const stalled = await until((now) => reason(now, 'Stalled') === 'PodsNotStarting');
      expect([isReady(stalled), reason(stalled, 'Programmed')]).toEqual([false, 'PodsNotStarting']);
      expect(message(stalled, 'Stalled')).toMatch(/pod shop-gateway-\S+: .*env:\/\/SHOP_KEY: the variable is empty/);
      expect([await text(), await keyed('first')]).toEqual([before, 200]);
      await rotate('second');
      await until((now) => isReady(now) && reason(now, 'Stalled') !== 'PodsNotStarting');
      await eventually(async () => expect([await keyed('first'), await keyed('second')]).toEqual([401, 200]));
    });
  });

  it('the operator was never refused a right', async () => {
    await shop.expectNoRefusedRight();
  });
});
