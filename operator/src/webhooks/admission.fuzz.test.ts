/**
 * Reviews that anybody may send to the webhooks: bytes that are none, objects of the four kinds and pods with whatever
 * in them. Each gets the answer of a review or a 4xx, and nothing but the object under review is in it.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { ObjectError } from '../api/parse.ts';
import { apiSpecs, gatewayProjects, pluginRefs, secrets } from '../api/resources.ts';
import { catalog } from '../controllers/plugin-ref/catalog.ts';
import { isRecord, type KubeObject, type Resource } from '../kube/kube-object.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import { SourceFetcher } from '../sources/fetcher.ts';
import { admissionHandler } from './admission.ts';
import { reviewPod } from './injector.ts';
import { boundedReview } from './review-object.ts';

const document = (paths: object) => JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths });
const OBJECTS: Readonly<Record<string, object>> = {
  ApiSpec: {
    metadata: { name: 'books', labels: { a: 'b' } },
    spec: { source: { inline: document({ '/a': { get: { 'x-gw-dispatch': { name: 'mock' }, responses: {} } } }) } },
  },
  GatewayProject: {
    metadata: { name: 'shop', namespace: 'shop' },
    spec: {
      specs: { names: ['books'], selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] } },
      plugins: [
        { name: 'mock', config: { a: 1 } },
        { name: 'mine', pluginRef: 'mine' },
      ],
      upstreams: { a: { url: 'https://a.example' } },
      egress: { allow: ['10.0.0.0/8'] },
      pods: {
        replicas: 2,
        template: { spec: { containers: [{ name: 'gateway', env: [{ name: 'A', value: 'b' }] }] } },
      },
      secrets: { env: [{ secret: 'keys' }], files: [{ secret: 'keys', mountPath: '/etc/keys' }] },
      controlPlane: { url: 'https://control.example', secret: 'keys' },
      expose: { ingress: { host: 'a.example' } },
    },
  },
  PluginRef: { metadata: { name: 'mine' }, spec: { version: '1.0.0', source: { configMap: { name: 'x' } } } },
  Deployment: { metadata: { name: 'd' }, spec: { project: 'shop', artifact: { revision: 7 } } },
  Pod: {
    metadata: {
      generateName: 'orders-',
      labels: { 'gw.dev/sidecar': 'true' },
      annotations: { 'gw.dev/project': 'shop/shop' },
    },
    spec: {
      containers: [{ name: 'app', image: 'x', ports: [{ name: 'http', containerPort: 3000 }] }],
      volumes: [{ name: 'v', emptyDir: {} }],
    },
  },
};
const KINDS = Object.keys(OBJECTS);

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** A member somewhere in it has another value, another name, or is gone. */
function changed(value: Json, path: readonly number[], other: Json | undefined): Json | undefined {
  const [at, ...rest] = path;
  if (at === undefined || typeof value !== 'object' || value === null) return other;
  const names = Object.keys(value);
  const name = names[at % Math.max(1, names.length)];
  if (name === undefined) return other;
  const next = changed((value as { [name: string]: Json })[name] ?? null, rest, other);
  if (Array.isArray(value))
    return next === undefined ? value.toSpliced(Number(name), 1) : value.with(Number(name), next);
  const { [name]: _, ...others } = value;
  return next === undefined ? others : { ...others, [name]: next };
}

const odd = fc.oneof(
  fc.constant(undefined),
  fc.jsonValue({ maxDepth: 2 }).map((value) => value as Json),
  fc.constantFrom<Json>('', '../x', '__proto__', 'a'.repeat(5000), -1, 1e300, 2 ** 53, '%s{x}', '\u0000', 'shop/shop'),
);
const change = fc.record({ path: fc.array(fc.nat(20), { minLength: 1, maxLength: 7 }), other: odd });
const request = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    operation: fc.constantFrom('CREATE', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
    changes: fc.array(change, { maxLength: 3 }),
    before: fc.array(change, { maxLength: 1 }),
    outer: fc.array(change, { maxLength: 1 }),
  })
  .map(({ kind, operation, changes, before, outer }) => {
    const object = JSON.parse(JSON.stringify(OBJECTS[kind])) as Json;
    const apply = (from: Json, list: typeof changes) =>
      list.reduce<Json>((value, { path, other }) => changed(value, path, other) ?? null, from);
    const review = {
      request: {
        uid: 'u-1',
        kind: { group: 'gw.dev', version: 'v1alpha1', kind },
        operation,
        namespace: 'shop',
        name: 'n',
        object: operation === 'DELETE' ? null : apply(object, changes),
        oldObject: operation === 'CREATE' ? null : apply(object, before),
      },
    };
    return apply(review as Json, outer);
  });

function uidOf(sent: string): unknown {
  const review: unknown = JSON.parse(sent);
  return isRecord(review) && isRecord(review['request']) ? review['request']['uid'] : undefined;
}

describe('reviews that anybody sends', () => {
  const errors: unknown[] = [];
  const objects = new MemoryObjects();
  const server = createServer();
  let url: string;

  beforeAll(async () => {
    const there = <T extends KubeObject>(resource: Resource<T>, name: string, namespace: string, body: object) =>
      objects.apply(resource, resource.parse({ metadata: { name, namespace }, ...body }));
    await there(apiSpecs, 'planted-spec', 'shop', { spec: { source: { inline: document({ '/planted': {} }) } } });
    await there(gatewayProjects, 'shop', 'shop', { spec: { specs: { selector: {} }, plugins: [{ name: 'mock' }] } });
    await there(gatewayProjects, 'planted', 'other', { spec: { specs: { names: ['planted'] } } });
    await there(pluginRefs, 'planted-plugin', 'shop', { spec: { source: { configMap: { name: 'planted' } } } });
    await there(secrets, 'keys', 'shop', { data: { planted: btoa('planted') } });
    const deps = {
      objects,
      catalog,
      sources: new SourceFetcher({
        fetch: async () => {
          throw new Error('a review fetched something');
        },
        maxBytes: 1,
      }),
      image: 'gw:test',
      namespaces: { includes: (name: string) => name === 'shop', labels: async () => ({}) },
      operatorNamespace: 'gw-system',
      version: async () => ({ text: '1.34', findsSidecars: true }),
      deadlineMs: 60_000,
      onError: (error: unknown) => errors.push(error),
    };
    const review = boundedReview({ maxRunning: 16, maxRunningOfNamespace: 4 });
    const validate = admissionHandler((asked) => review(deps, asked), deps.onError);
    const pods = admissionHandler((asked) => reviewPod(deps, asked), deps.onError);
    server.on('request', (incoming, response) => {
      const at = new URL(incoming.url ?? '/', 'http://x/');
      void (at.pathname === '/pods' ? pods : validate)(incoming, response, at);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  });
  afterAll(() => {
    server.close().closeAllConnections();
  });

  async function send(path: string, body: string | Uint8Array<ArrayBuffer>) {
    const response = await fetch(url + path, { method: 'POST', body });
    return { status: response.status, text: await response.text() };
  }

  /** What a server does with it, and that the check did not break: an object that is none is not of its making. */
  function expectAnswer({ status, text }: { readonly status: number; readonly text: string }, sent: string): void {
    const value: unknown = JSON.parse(text);
    expect(errors.filter((error) => !(error instanceof ObjectError))).toEqual([]);
    errors.length = 0;
    if (!sent.includes('planted')) expect(text).not.toContain('planted');
    if (status === 400) return;
    expect(status).toBe(200);
    const answer = isRecord(value) && isRecord(value['response']) ? value['response'] : {};
    expect(answer).toMatchObject({ uid: uidOf(sent), allowed: expect.any(Boolean) });
    if (answer['allowed'] === false) {
      expect(answer['status']).toMatchObject({ code: expect.any(Number), message: expect.stringMatching(/./) });
    }
    expect(text.length).toBeLessThan(64 * 1024);
  }

  it('of objects with members changed are answered, at either webhook', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('/validate', '/pods'), request, async (path, review) => {
        const sent = JSON.stringify(review);
        expectAnswer(await send(path, sent), sent);
      }),
      propertyRuns(400),
    );
  });

  it('of any JSON or bytes are 400', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)),
      fc.json().map((text) => Buffer.from(text)),
      fc.json().map((text) => Buffer.from(`{"request":${text}}`)),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('/validate', '/pods'), bytes, async (path, body) => {
        expect((await send(path, body)).status).toBe(400);
      }),
      propertyRuns(200),
    );
  });
});
