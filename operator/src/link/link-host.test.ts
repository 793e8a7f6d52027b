/** The operator's link as data planes see it: real channel, real downloads; only the API server's TokenReview stands in. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compileProject } from '@gw/control';
import { ControlPlaneLink } from '@gw/gateway/link';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { configMaps, type GatewayProject, gatewayProjects, pods } from '../api/resources.ts';
import { catalog } from '../controllers/plugin-ref/catalog.ts';
import type { ObjectKey } from '../kube/kube-object.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import { artifactParts } from '../objects/artifact-parts.ts';
import { LABEL_PROJECT } from '../objects/names.ts';
import { ANNOTATION_PROJECT, injectedLabel, LABEL_INJECTED } from '../sidecar/labels.ts';
import { ArtifactFiles } from './artifact-files.ts';
import { artifactPath, downloads } from './downloads.ts';
import { LinkHost } from './link-host.ts';
import { type Caller, callerOf } from './token-reviewer.ts';

async function compiled(body: string) {
  const document = {
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    paths: {
      '/a': { get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': { name: 'mock', config: { body } } } },
    },
  };
  const mock = await catalog.builtin('mock');
  const result = await compileProject({
    specs: ['api.json'],
    files: [{ name: 'api.json', bytes: Buffer.from(JSON.stringify(document)) }],
    plugins: mock ? [mock] : [],
    flags: { production: true, sourceDateEpoch: 0 },
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result;
}

describe('the link of the operator', () => {
  let objects: MemoryObjects;
  let host: LinkHost;
  let server: Server;
  let url = '';
  const callers = new Map<string, Caller>();
  const called: ObjectKey[] = [];
  const errors: unknown[] = [];
  const links: ControlPlaneLink[] = [];

  beforeEach(async () => {
    callers.clear();
    called.length = 0;
    errors.length = 0;
    objects = new MemoryObjects();
    const pull = async () => {
      throw new Error('no registry here');
    };
    const deps = {
      objects,
      namespaces: { includes: () => true, labels: async () => ({}) },
      reviewer: { review: async (token: string) => callers.get(token) },
      files: new ArtifactFiles(objects, pull),
    };
    host = new LinkHost({ ...deps, onError: (error) => errors.push(error) });
    host.onStart((keys) => called.push(...keys));
    const download = downloads({ ...deps, failed: (error) => errors.push(error) });
    server = createServer((request, response) => {
      void download(request, response, new URL(request.url ?? '', 'http://operator'));
    });
    server.on('upgrade', (request, socket, head) => host.channel.handleUpgrade(request, socket, head));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    url = `127.0.0.1:${port}`;
  });
  afterEach(async () => {
    await Promise.all(links.splice(0).map((link) => link.stop()));
    await host.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(errors).toEqual([]);
  });

  /** A project that serves `body` as its revision 1, in place. */
  async function projectOf(name: string, body: string, sidecar: object = {}): Promise<GatewayProject> {
    const { artifact, artifactHash, tarSha256 } = await compiled(body);
    const archive = tarSha256.replace('sha256:', '');
    const revision = { revision: 1, artifactHash, archive, createdAt: '2026-01-01T00:00:00Z', parts: 1 };
    await objects.apply(gatewayProjects, {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GatewayProject',
      metadata: { name, namespace: 'shop' },
      ...{ spec: { specs: { selector: {} }, rollout: { strategy: 'InPlace' }, sidecar } },
    });
    const made = await objects.get(gatewayProjects, { namespace: 'shop', name });
    if (!made) throw new Error('it was not made');
    for (const part of artifactParts(made, revision, artifact)) await objects.apply(configMaps, part);
    const rollout = { strategy: 'InPlace', phase: 'Progressing', revision: 1, startedAt: '2026-01-01T00:00:00Z' };
    const status = { revision: 1, artifactHash, latestRevision: 1, revisions: [revision], rollout };
    const { apiVersion, kind, metadata } = made;
    await objects.applyStatus(gatewayProjects, { apiVersion, kind, metadata, ...{ status } });
    const found = await objects.get(gatewayProjects, { namespace: 'shop', name });
    if (!found) throw new Error('it is gone');
    return found;
  }

  /** A pod with a token of its service account; the token. */
  async function podOf(namespace: string, name: string, serviceAccount: string, marks: object): Promise<string> {
    await objects.apply(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, ...marks } });
    const pod = await objects.get(pods, { namespace, name });
    const token = `token-of-${name}`;
    callers.set(token, { namespace, serviceAccount, pod: name, podUid: pod?.metadata.uid ?? '' });
    return token;
  }
  const gatewayPod = (name: string, project: string) =>
    podOf('shop', name, `${project}-gateway`, { labels: { [LABEL_PROJECT]: project } });
  const sidecarPod = (namespace: string, name: string, project: ObjectKey) =>
    podOf(namespace, name, 'default', {
      labels: { [LABEL_INJECTED]: injectedLabel(project) },
      annotations: { [ANNOTATION_PROJECT]: `${project.namespace}/${project.name}` },
    });

  /** A data plane, as in `gw serve`. */
  function connect(token: string, project: GatewayProject, load: () => Promise<void> = async () => {}) {
    const plane = { served: null as string | null, connected: false, ends: [] as string[] };
    const link = new ControlPlaneLink(
      {
        controlPlane: `ws://${url}`,
        projectId: project.metadata.uid ?? '',
        apiKey: token,
        name: 'pod',
        labels: {},
        instanceId: token,
        trustedKeys: [],
      },
      {
        served: () => plane.served,
        load: async ({ artifact }) => {
          await load();
          plane.served = artifact.manifest.artifact_hash;
        },
        connected: () => {
          plane.connected = true;
        },
        disconnected: (why, refused) => void plane.ends.push(refused ?? why),
        refused: () => {},
        drift: () => {},
      },
    );
    link.start();
    links.push(link);
    return plane;
  }
  const get = (path: string, token: string, headers: object = {}) =>
    fetch(`http://${url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });

  it('gives gateway pods what the status wants, and calls the project up when they serve it', async () => {
    const project = await projectOf('books', 'one');
    const plane = connect(await gatewayPod('books-1', 'books'), project);
    await eventually(() => expect(plane.served).toBe(project.status?.artifactHash));
    await eventually(() => expect(called).toContainEqual({ namespace: 'shop', name: 'books' }));
    const next = await projectOf('books', 'two');
    host.decided(next, undefined);
    await eventually(() => expect(plane.served).toBe(next.status?.artifactHash));
  });

  it('keeps what a pod refused, of that rollout, until it takes another or goes', async () => {
    const project = await projectOf('books', 'one');
    const uid = project.metadata.uid ?? '';
    connect(await gatewayPod('books-1', 'books'), project, async () => {
      throw new Error('it does not load');
    });
    await eventually(() => expect(host.refusals(uid)).toHaveLength(1));
    expect(host.refusals(uid)[0]).toEqual({
      pod: 'books-1',
      attempt: '1@2026-01-01T00:00:00Z',
      detail: 'it does not load',
    });
    await Promise.all(links.splice(0).map((link) => link.stop()));
    await eventually(() => expect(host.refusals(uid)).toEqual([]));
  });

  it('admits sidecars of its own namespace and of those that are named, and counts them by hash', async () => {
    const project = await projectOf('books', 'one', { allowedNamespaces: { names: ['apps'] } });
    const key = { namespace: 'shop', name: 'books' };
    const near = connect(await sidecarPod('shop', 'near', key), project);
    const far = connect(await sidecarPod('apps', 'far', key), project);
    const stranger = connect(await sidecarPod('elsewhere', 'stranger', key), project);
    const { artifactHash } = project.status ?? {};
    await eventually(() => expect([near.served, far.served]).toEqual([artifactHash, artifactHash]));
    await eventually(() => expect(stranger.ends).toEqual(['unknown-project']));
    await eventually(() =>
      expect(host.sidecars(project.metadata.uid ?? '')).toEqual({
        connected: 2,
        byHash: [{ artifactHash, count: 2 }],
      }),
    );
    expect(host.sidecars('another')).toBeUndefined();
  });

  it.each([
    ['a token that is none of ours', async () => 'stolen', 'bad-key'],
    ['a pod of another project', () => gatewayPod('films-1', 'films'), 'unknown-project'],
    [
      'a pod with the label alone',
      () => podOf('shop', 'liar', 'default', { labels: { [LABEL_PROJECT]: 'books' } }),
      'unknown-project',
    ],
  ])('refuses %s', async (_, token, refusal) => {
    const project = await projectOf('books', 'one');
    await projectOf('films', 'two');
    const plane = connect(await token(), project);
    await eventually(() => expect(plane.ends).toEqual([refusal]));
    expect(plane.served).toBeNull();
  });

  it('a token of a pod that has been replaced by its namesake opens nothing', async () => {
    const project = await projectOf('books', 'one');
    const token = await gatewayPod('books-1', 'books');
    const known = callers.get(token);
    if (known) callers.set(token, { ...known, podUid: 'the-one-before' });
    const plane = connect(token, project);
    await eventually(() => expect(plane.ends).toEqual(['unknown-project']));
  });

  it('downloads are of the project of the pod alone, whole or from where one broke off', async () => {
    const [books, films] = [await projectOf('books', 'one'), await projectOf('films', 'two')];
    const token = await gatewayPod('books-1', 'books');
    const archiveOf = ({ status }: GatewayProject) => status?.revisions?.[0]?.archive ?? '';
    const own = artifactPath(books, archiveOf(books));
    expect((await fetch(`http://${url}${own}`)).status).toBe(401);
    expect((await get(own, 'stolen')).status).toBe(401);
    expect((await get(artifactPath(films, archiveOf(films)), token)).status).toBe(404);
    expect((await get(artifactPath(books, 'f'.repeat(64)), token)).status).toBe(404);
    const whole = await get(own, token);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect([whole.status, bytes.length > 100]).toEqual([200, true]);
    const etag = whole.headers.get('etag') ?? '';
    const rest = await get(own, token, { range: 'bytes=100-', 'if-range': etag });
    expect([rest.status, rest.headers.get('content-range')]).toEqual([
      206,
      `bytes 100-${bytes.length - 1}/${bytes.length}`,
    ]);
    expect(Buffer.from(await rest.arrayBuffer()).equals(bytes.subarray(100))).toBe(true);
    const other = await get(own, token, { range: 'bytes=100-', 'if-range': '"another"' });
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, bytes.length]);
  });
});

describe("a TokenReview's answer", () => {
  const user = {
    username: 'system:serviceaccount:shop:books-gateway',
    extra: {
      'authentication.kubernetes.io/pod-name': ['books-1'],
      'authentication.kubernetes.io/pod-uid': ['uid-1'],
    },
  };
  const good = { authenticated: true, audiences: ['gw-operator'], user };

  it('names the pod and its service account', () => {
    expect(callerOf(good)).toEqual({
      namespace: 'shop',
      serviceAccount: 'books-gateway',
      pod: 'books-1',
      podUid: 'uid-1',
    });
  });

  it.each([
    ['no answer', undefined],
    ['no token', { ...good, authenticated: false }],
    ['a token for somebody else', { ...good, audiences: ['https://kubernetes.default.svc'] }],
    ['no audience', { ...good, audiences: undefined }],
    ['a user', { ...good, user: { ...user, username: 'alice' } }],
    ['a token of no pod', { ...good, user: { ...user, extra: {} } }],
    ['nonsense', { ...good, user: { ...user, extra: { 'authentication.kubernetes.io/pod-name': 'x' } } }],
  ])('is nobody with %s', (_, status) => {
    expect(callerOf(status)).toBeUndefined();
  });
});
