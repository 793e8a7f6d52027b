/** Which pods get a sidecar, of which project, and what the others are told. */
import { describe, expect, it } from 'vitest';
import { type GatewayProject, gatewayProjects, namespaces, secrets, services } from '../api/resources.ts';
import type { KubeObject, Resource } from '../kube/kube-object.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import { DEFAULT_POD_POLICY, type PodPolicy } from '../objects/pod-policy.ts';
import { clusterVersion } from '../sidecar/named-ports.ts';
import { reviewPod } from './injector.ts';

const link = (project: GatewayProject) => ({
  url: 'wss://gw-link.gw-system.svc/ws/data-plane',
  projectId: project.metadata.uid ?? '',
  credential: { kind: 'service-account', audience: 'gw-operator' } as const,
});

interface Given {
  readonly labels?: object;
  readonly annotations?: object;
  readonly spec?: object;
  readonly namespace?: string;
  readonly operation?: 'CREATE' | 'UPDATE';
}

interface Rig {
  readonly linked?: boolean;
  readonly minor?: string;
  readonly policy?: PodPolicy;
}

function rig({ linked = true, minor = '34', policy }: Rig = {}) {
  const objects = new MemoryObjects();
  const put = <T extends KubeObject>(resource: Resource<T>, object: object) =>
    objects.apply(resource, resource.parse(object));
  const project = (spec: object = {}) =>
    put(gatewayProjects, { metadata: { name: 'shop', namespace: 'apis' }, spec: { specs: { selector: {} }, ...spec } });
  const review = ({ labels, annotations, spec = {}, namespace = 'apis', operation = 'CREATE' }: Given) =>
    reviewPod(
      {
        objects,
        namespaces: {
          includes: (name) => name !== 'unwatched',
          labels: async (name) => (await objects.getMetadata(namespaces, { namespace: '', name }))?.metadata.labels,
        },
        operatorNamespace: 'gw-system',
        image: 'gw:test',
        ...(policy ? { policy } : {}),
        version: clusterVersion({ json: async () => ({ major: '1', minor }) }),
        ...(linked ? { linkOf: link } : {}),
      },
      {
        uid: 'u',
        kind: 'Pod',
        operation,
        namespace,
        name: '',
        object: {
          metadata: { generateName: 'orders-', labels, annotations },
          spec: { containers: [{ name: 'app', ports: [{ name: 'http', containerPort: 3000 }] }], ...spec },
        },
        oldObject: undefined,
        dryRun: false,
      },
    );
  return { put, project, review };
}

const asks = { 'gw.dev/sidecar': 'true' };
const named = { 'gw.dev/project': 'apis/shop' };
const paths = (patch: readonly object[] = []) => JSON.stringify(patch);

describe('a pod that asks by its own label', () => {
  it('gets a sidecar of the project that it names, with a link to it', async () => {
    const { project, review } = rig();
    await project();
    const { allowed, patch, warnings } = await review({ labels: asks, annotations: { 'gw.dev/project': 'shop' } });
    expect([allowed, warnings]).toEqual([true, []]);
    expect(paths(patch)).toContain('wss://gw-link.gw-system.svc/ws/data-plane');
    expect(paths(patch)).toContain('"apis.shop"');
  });

  it.each([
    ['the project is not there', {}, named, 'GatewayProject "apis/shop" does not exist, or'],
    ['it names none', { there: true }, {}, 'no annotation gw.dev/project names a GatewayProject'],
    ['the name is none', { there: true }, { 'gw.dev/project': 'a/b/c' }, 'must be NAME or NAMESPACE/NAME'],
    ['the operator does not look there', { there: true }, { 'gw.dev/project': 'unwatched/shop' }, 'does not exist, or'],
  ])('is refused where %s', async (_, { there = false }: { readonly there?: boolean }, annotations, expected) => {
    const { project, review } = rig();
    if (there) await project();
    const { allowed, message } = await review({ labels: asks, annotations });
    expect([allowed, message]).toEqual([false, expect.stringContaining(expected)]);
  });

  it('is refused where the project says that it signs and its key is not there', async () => {
    const { project, review, put } = rig();
    await project({ signing: { keySecret: { name: 'keys' } } });
    const asking = { labels: asks, annotations: named };
    const unreadable = 'keys of its GatewayProject cannot be read: the status of that says which';
    expect(await review(asking)).toEqual({ allowed: false, message: unreadable });
    await put(secrets, { metadata: { name: 'keys', namespace: 'apis' }, data: { 'signing.pem': 'eA==' } });
    expect(await review(asking)).toEqual({ allowed: false, message: unreadable });
  });

  it.each([
    ['31', false],
    ['32', true],
    ['33+', true],
  ])('of a cluster of Kubernetes 1.%s is admitted: %s, since Services must find the port', async (minor, admitted) => {
    const { project, review } = rig({ minor });
    await project();
    const { allowed, message = '' } = await review({ labels: asks, annotations: named });
    expect([allowed, message.includes('Services find the ports of sidecars from 1.32 on')]).toEqual([
      admitted,
      !admitted,
    ]);
  });

  it('is warned of Services that go past the sidecar', async () => {
    const { project, review, put } = rig();
    await project();
    const service = (name: string, targetPort: string | number, selector: object = { app: 'orders' }) =>
      put(services, { metadata: { name, namespace: 'apis' }, spec: { selector, ports: [{ port: 80, targetPort }] } });
    await service('by-number', 3000);
    await service('by-name', 'http');
    await service('of-others', 3000, { app: 'other' });
    const { warnings } = await review({ labels: { ...asks, app: 'orders' }, annotations: named });
    expect(warnings).toEqual(['gw: 1 Service(s) bypass the sidecar: their targetPort is 3000, but must be "http"']);
  });
});

describe('a pod whose project may not have what it asks for', () => {
  it('is refused an image from elsewhere, and admitted without a sidecar where only its namespace asks', async () => {
    const { project, review } = rig();
    await project({ pods: { image: 'evil.example/gw:1' } });
    const { allowed, message } = await review({ labels: asks, annotations: named });
    expect([allowed, message]).toEqual([false, expect.stringContaining('must be allowed with --allow-images')]);
    const without = await review({ annotations: named });
    expect(paths(without.patch)).not.toContain('evil.example');
    expect(without.allowed).toBe(true);
  });

  it('is refused Secrets that do not name the project, where they must', async () => {
    const { project, review, put } = rig({ policy: { ...DEFAULT_POD_POLICY, secretGrants: true } });
    await project({ secrets: { env: ['mine', 'admin'] } });
    const secret = (name: string, granted: string) =>
      put(secrets, { metadata: { name, namespace: 'apis', annotations: { 'gw.dev/projects': granted } }, data: {} });
    await secret('mine', 'shop');
    await secret('admin', 'other');
    const { allowed, message } = await review({ labels: asks, annotations: named });
    expect([allowed, message]).toEqual([false, expect.stringContaining('may not use a Secret that it names')]);
    await secret('admin', 'other shop');
    expect((await review({ labels: asks, annotations: named })).allowed).toBe(true);
  });

  it('is refused variables of a Secret of the project that run something else in it', async () => {
    const make = (policy?: PodPolicy) => {
      const { project, review, put } = rig(policy ? { policy } : {});
      const secret = (data: object) => put(secrets, { metadata: { name: 'keys', namespace: 'apis' }, data });
      return { project, secret, pod: () => review({ labels: asks, annotations: named }) };
    };
    const one = make();
    await one.project({ secrets: { env: ['keys'] } });
    await one.secret({ TOKEN: btoa('t'), NODE_OPTIONS: btoa('--import=data:text/javascript,planted') });
    const { allowed, message } = await one.pod();
    expect([allowed, message]).toEqual([false, expect.stringContaining('would set variables that must be allowed')]);
    expect(message).not.toMatch(/NODE_OPTIONS|planted/);
    await one.secret({ TOKEN: btoa('t') });
    expect((await one.pod()).allowed).toBe(true);
    const trusted = make({ ...DEFAULT_POD_POLICY, fields: new Set(['env']) });
    await trusted.project({ secrets: { env: ['keys'] } });
    await trusted.secret({ NODE_OPTIONS: btoa('--max-old-space-size=64') });
    expect((await trusted.pod()).allowed).toBe(true);
  });
});

describe('a pod of another namespace', () => {
  const there = { labels: asks, annotations: named, namespace: 'team' };

  it.each([
    ['by name', { names: ['team'] }],
    ['by label', { selector: { matchLabels: { gateway: 'shared' } } }],
  ])('has one where the project admits its namespace %s', async (_, allowedNamespaces) => {
    const { project, review, put } = rig();
    await put(namespaces, { metadata: { name: 'team', namespace: '', labels: { gateway: 'shared' } } });
    await project({ sidecar: { allowedNamespaces } });
    expect((await review(there)).allowed).toBe(true);
  });

  it('is told the same whether there is no such project or no grant', async () => {
    const { project, review } = rig();
    const without = await review(there);
    await project({ sidecar: { allowedNamespaces: { names: ['others'] } } });
    expect(await review(there)).toEqual(without);
    expect(without.allowed).toBe(false);
  });

  it('has none where the operator has no link, since nothing would bring it an artifact', async () => {
    const { project, review } = rig({ linked: false });
    await project({ sidecar: { allowedNamespaces: { names: ['team'] } } });
    expect((await review(there)).message).toContain('--link-service');
    expect((await review({ ...there, namespace: 'apis' })).allowed).toBe(true);
  });
});

describe('a pod whose namespace asks', () => {
  it('has the project of the namespace', async () => {
    const { project, review, put } = rig();
    await project({ sidecar: { allowedNamespaces: { names: ['team'] } } });
    await put(namespaces, { metadata: { name: 'team', namespace: '', labels: asks, annotations: named } });
    expect(paths((await review({ namespace: 'team' })).patch)).toContain('gw-sidecar');
  });

  it('is admitted and marked where it can have none', async () => {
    const { project, review } = rig();
    await project();
    const { allowed, warnings, patch } = await review({ annotations: named, spec: { hostNetwork: true } });
    expect([allowed, warnings?.[0]]).toEqual([
      true,
      expect.stringContaining('gw: no sidecar for this pod: it uses the network'),
    ]);
    expect(paths(patch)).toContain('"gw.dev/injected":"skipped"');
  });
});

it.each([
  ['wants none', { labels: { 'gw.dev/sidecar': 'false' }, annotations: named }],
  ['is one of the operator', { labels: asks, annotations: named, namespace: 'gw-system' }],
  ['has one already', { labels: asks, annotations: named, spec: { initContainers: [{ name: 'gw-sidecar' }] } }],
  ['is not being created', { labels: asks, annotations: named, operation: 'UPDATE' as const }],
])('a pod that %s is left alone', async (_, given) => {
  const { project, review } = rig();
  await project();
  expect(await review(given)).toEqual({ allowed: true });
});
