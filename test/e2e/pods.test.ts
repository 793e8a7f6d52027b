/** Pods and what stands around them, on a cluster: Secrets, certificates, numbers of pods, kinds that are missing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { type InstalledOperator, image, missing, skipped } from './installed-operator.ts';
import { execute, lookAtPods } from './kubectl.ts';
import { reachable } from './reachable.ts';
import { selfSigned } from './self-signed.ts';
import { servedCertificate } from './served-certificate.ts';
import { sharedOperator } from './shared-operator.ts';

const manifests = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'ApiSpec',
      metadata: { name: 'shop' },
      spec: {
        source: {
          inline: `openapi: 3.1.0
info: { title: Shop, version: '1' }
paths:
  /file:
    get:
      responses: { '200': { description: OK } }
      x-gw-dispatch: { name: mock, config: { body: 'file:///var/run/secrets/gw/body' } }
  /variable:
    get:
      responses: { '200': { description: OK } }
      x-gw-dispatch: { name: mock, config: { body: 'env://GREETING' } }
`,
        },
      },
    },
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GatewayProject',
      metadata: { name: 'shop' },
      spec: {
        specs: { names: ['shop'] },
        plugins: [{ name: 'mock' }],
        pods: { replicas: 2, image, resources: { requests: { cpu: '20m', memory: '96Mi' } } },
        serve: { drainDelay: 3, shutdownTimeout: 5 },
        secrets: { env: ['shop-env'], directory: 'shop-files' },
        tls: { secret: 'shop-tls' },
        exposure: { ingress: { hosts: ['shop.example.com'] } },
      },
    },
  ],
});

describe.skipIf(missing.length > 0)(`pods on a cluster${skipped}`, () => {
  let operator: InstalledOperator;
  const address = async () => `https://${await operator.k.field('service/shop-gateway', '{.spec.clusterIP}')}`;
  const get = async (path: string) => execute('curl', ['-sk', '--max-time', '5', `${await address()}${path}`]);
  const pods = () => operator.k.field('pods', "{.items[?(@.metadata.labels.gw\\.dev/project=='shop')].metadata.name}");
  const patch = (spec: object) =>
    operator.k('patch', 'gatewayproject', 'shop', '--type=merge', '-p', JSON.stringify({ spec }));
  const condition = (type: string, field: string) =>
    operator.k.field('gatewayproject/shop', `{.status.conditions[?(@.type=="${type}")].${field}}`);
  const secret = (name: string, stringData: object) =>
    operator.k.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData }));
  const changeSpec = async (from: string, to: string) => {
    const inline = await operator.k.field('apispec/shop', '{.spec.source.inline}');
    const spec = { source: { inline: inline.replace(from, to) } };
    await operator.k('patch', 'apispec', 'shop', '--type=merge', '-p', JSON.stringify({ spec }));
  };
  const replicas = () => operator.k.field('deployment.apps/shop-gateway', '{.spec.replicas}');

  beforeAll(async () => {
    operator = await sharedOperator('pods');
  });
  afterAll(() => operator?.uninstall(), 240_000);

  it('says which Secrets are missing, and starts when they are there', async () => {
    await operator.k.apply(manifests);
    await eventually(async () => expect(await condition('Accepted', 'reason')).toBe('SourceNotFound'));
    const message = await condition('Accepted', 'message');
    for (const name of ['shop-env', 'shop-files', 'shop-tls']) expect(message).toContain(`Secret "${name}" is not in`);
    await secret('shop-env', { GREETING: 'hello' });
    await secret('shop-files', { body: 'one' });
    await operator.k.apply(selfSigned('shop-tls', ['shop.example.com']));
    await operator.k.condition('gatewayproject/shop', 'Ready', 'True', 180);
    await reachable(await address());
    expect(await condition('CertificateValid', 'reason')).toBe('CertificateValid');
    expect([await get('/file'), await get('/variable')]).toEqual(['one', 'hello']);
    expect(await operator.k.field('ingress/shop-gateway', '{.spec.rules[0].host}')).toBe('shop.example.com');
  });

  it('takes up a renewed certificate and a changed file without another pod', async () => {
    const before = await pods();
    const shown = await servedCertificate(await address());
    await secret('shop-files', { body: 'two' });
    await operator.k.apply(selfSigned('shop-tls', ['shop.example.com']));
    await lookAtPods(operator.k, 'gw.dev/project=shop');
    await eventually(async () => expect(await get('/file')).toBe('two'));
    const renewed = async () => expect(await servedCertificate(await address())).not.toBe(shown);
    await eventually(renewed);
    expect(await pods()).toBe(before);
  });

  it('replaces pods whose variables have changed', async () => {
    const before = (await pods()).split(' ');
    await secret('shop-env', { GREETING: 'good day' });
    await lookAtPods(operator.k, 'gw.dev/project=shop');
    await eventually(async () => {
      const now = (await pods()).split(' ');
      expect([now.length, now.filter((name) => before.includes(name))]).toEqual([2, []]);
      expect(await get('/variable')).toBe('good day');
    });
    await operator.k.condition('gatewayproject/shop', 'Ready', 'True', 120);
  });

  it('tries again what failed when a Secret of its pods has changed, and the ApiSpec says why it is not served', async () => {
    await changeSpec('env://GREETING', 'env://LATER');
    await eventually(async () => expect(await condition('Ready', 'reason')).toBe('RolledBack'));
    const ofSpec = (field: string) =>
      operator.k.field('apispec/shop', `{.status.conditions[?(@.type=="Ready")].${field}}`);
    await eventually(async () => expect(await ofSpec('reason')).toBe('RolledBack'));
    expect(await ofSpec('message')).toContain('env://LATER');
    expect(await get('/variable')).toBe('good day');
    await secret('shop-env', { GREETING: 'good day', LATER: 'good evening' });
    await lookAtPods(operator.k, 'gw.dev/project=shop');
    await eventually(async () => expect(await get('/variable')).toBe('good evening'));
    await operator.k.condition('gatewayproject/shop', 'Ready', 'True', 120);
    await changeSpec('env://LATER', 'env://GREETING');
    await eventually(async () => expect(await get('/variable')).toBe('good day'));
    await operator.k.condition('gatewayproject/shop', 'Ready', 'True', 120);
  });

  it('hands the number of pods over to an autoscaler, and takes it back, without a jump', async () => {
    const seen: string[] = [];
    await operator.k('scale', 'deployment.apps/shop-gateway', '--replicas=3').catch(() => undefined);
    await patch({ pods: { replicas: 3 } });
    await eventually(async () => expect(await replicas()).toBe('3'));
    await patch({ pods: { autoscaling: { minReplicas: 2, maxReplicas: 4 } } });
    await eventually(async () => {
      seen.push(await replicas());
      expect(await operator.k.field('hpa/shop-gateway', '{.spec.maxReplicas}')).toBe('4');
      expect(
        await operator.k.field('deployment.apps/shop-gateway', '{.metadata.annotations.gw\\.dev/autoscaled}'),
      ).toBe('true');
    });
    // As the autoscaler does it: nobody takes that back.
    await operator.k('scale', 'deployment.apps/shop-gateway', '--replicas=4');
    await patch({ pods: { annotations: { touched: 'yes' } } });
    await eventually(async () => {
      const path = '{.spec.template.metadata.annotations.touched}';
      expect(await operator.k.field('deployment.apps/shop-gateway', path)).toBe('yes');
    });
    seen.push(await replicas());
    expect(new Set(seen)).toEqual(new Set(['3', '4']));
    await patch({ pods: { autoscaling: null, replicas: 2 } });
    await eventually(async () => expect(await replicas()).toBe('2'));
    await eventually(async () => expect(await operator.k('get', 'hpa', '-o', 'name')).toBe(''));
  });

  it('takes a patch of the template, and refuses one that would lose the pods', async () => {
    await patch({
      pods: { template: { spec: { containers: [{ name: 'gateway', env: [{ name: 'TZ', value: 'UTC' }] }] } } },
    });
    const env = '{.spec.template.spec.containers[0].env[?(@.name=="TZ")].value}';
    const patched = async () => expect(await operator.k.field('deployment.apps/shop-gateway', env)).toBe('UTC');
    await eventually(patched);
    // The webhook has the same check as the status, for where nobody asked the webhook.
    const losing = patch({ pods: { template: { metadata: { labels: { 'gw.dev/project': 'other' } } } } });
    await expect(losing).rejects.toThrow('metadata.labels may not change "gw.dev/project"');
    expect(await operator.k.field('deployment.apps/shop-gateway', env)).toBe('UTC');
    expect(await get('/file')).toBe('two');
  });

  it('is ready without pods where it asks for none', async () => {
    await patch({ pods: { replicas: 0 } });
    await eventually(async () => expect(await condition('Ready', 'reason')).toBe('ScaledToZero'));
    expect([await condition('Ready', 'status'), await condition('Stalled', 'status')]).toEqual(['True', '']);
    await patch({ pods: { replicas: 2 } });
    await eventually(async () => expect(await condition('Ready', 'reason')).toBe('Ready'));
  });

  it('serves what it served before where the first pods after none do not start', async () => {
    const before = await operator.k.field('gatewayproject/shop', '{.status.artifactHash}');
    await patch({ pods: { replicas: 0 } });
    await eventually(async () => expect(await condition('Ready', 'reason')).toBe('ScaledToZero'));
    await changeSpec('env://GREETING', 'env://NOWHERE');
    await eventually(async () =>
      expect(await operator.k.field('gatewayproject/shop', '{.status.rollout.unserved}')).toBe('true'),
    );
    await patch({ pods: { replicas: 2 } });
    await eventually(async () => expect(await condition('Ready', 'reason')).toBe('RolledBack'));
    expect(await operator.k.field('gatewayproject/shop', '{.status.artifactHash}')).toBe(before);
    await eventually(async () => expect(await get('/variable')).toBe('good day'));
  });
});
