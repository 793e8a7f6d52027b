/** What the validating webhook refuses, what it warns of, and what it lets pass. */

import { describe, expect, it } from 'vitest';
import { apiSpecs, deployments, gatewayProjects, pluginRefs } from '../api/resources.ts';
import { catalog } from '../controllers/plugin-ref/catalog.ts';
import type { KubeObject, Resource } from '../kube/kube-object.ts';
import { MemoryObjects } from '../local/memory-objects.ts';
import { SourceFetcher } from '../sources/fetcher.ts';
import type { AdmissionRequest } from './admission.ts';
import { boundedReview, type ReviewWith, reviewObject } from './review-object.ts';

const neverFetches = new SourceFetcher({
  fetch: async () => {
    throw new Error('a review fetched something');
  },
  maxBytes: 1,
});

function rig(more: Partial<ReviewWith> = {}) {
  const objects = new MemoryObjects();
  const errors: unknown[] = [];
  const deps: ReviewWith = {
    objects,
    catalog,
    sources: neverFetches,
    image: 'registry.example.org/gw:0.8.0',
    namespaces: { includes: (namespace) => namespace !== 'elsewhere' },
    // Machines that run tests may be slow.
    deadlineMs: 60_000,
    onError: (error) => errors.push(error),
    ...more,
  };
  const asked = (kind: string, name: string, spec: object): AdmissionRequest => ({
    uid: 'u',
    kind,
    operation: 'CREATE',
    namespace: 'shop',
    name,
    object: { kind, metadata: { name }, spec },
    oldObject: undefined,
    dryRun: false,
  });
  const request = (
    operation: AdmissionRequest['operation'],
    kind: string,
    name: string,
    spec: object,
    before?: object,
  ) => {
    const { object } = asked(kind, name, spec);
    const old = before && asked(kind, name, before).object;
    const changed = operation === 'DELETE' ? { object: undefined, oldObject: object } : { object, oldObject: old };
    return reviewObject(deps, { ...asked(kind, name, spec), operation, ...changed });
  };
  const there = <T extends KubeObject>(resource: Resource<T>, name: string, spec: object) =>
    objects.apply(resource, resource.parse({ metadata: { name, namespace: 'shop' }, spec }));
  return { deps, asked, request, there, errors, create: request.bind(undefined, 'CREATE') };
}

const document = (paths: object) => ({
  source: { inline: JSON.stringify({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths }) },
});
const get = (dispatch: object) => ({ get: { responses: {}, 'x-gw-dispatch': dispatch } });
const mock = get({ name: 'mock' });
const project = { specs: { names: ['books'] }, plugins: [{ name: 'mock' }] };

describe('an ApiSpec', () => {
  it('is refused for what is wrong in its document, with code, place and what to do', async () => {
    const { create } = rig();
    const inline =
      'openapi: 3.1.0\ninfo: {title: T, version: "1"}\npaths:\n  /a:\n    get:\n      x-gw-dispatch: 5\n      responses: {}\n';
    const { allowed, message, code } = await create('ApiSpec', 'books', { source: { inline } });
    expect([allowed, code]).toEqual([false, 422]);
    expect(message).toMatch(
      /^ApiSpec "books": spec\.source\.inline:6:\d+: error E1012 .*\(at \/paths\/~1a\/get\/x-gw-dispatch\)\. Write x-gw-dispatch as/,
    );
  });

  it('shows ten errors and the number of the others', async () => {
    const paths = Object.fromEntries(Array.from({ length: 14 }, (_, n) => [`/p${n}`, get({ config: {} })]));
    const { message } = await rig().create('ApiSpec', 'books', document(paths));
    expect(message?.match(/E10\d\d/g)).toHaveLength(10);
    expect(message).toContain('and 4 more errors');
  });

  it('is admitted with warnings for what others decide: plugins, upstreams, routes of other specs', async () => {
    const { create, there } = rig();
    await there(gatewayProjects, 'shop', { ...project, specs: { names: ['books', 'other'] } });
    await there(apiSpecs, 'other', document({ '/a': mock }));
    const spec = document({ '/a': mock, '/b': get({ name: 'http-upstream', config: { url: 'upstream://x' } }) });
    const { allowed, warnings } = await create('ApiSpec', 'books', spec);
    expect(allowed).toBe(true);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^gw: spec\.source\.inline:1:\d+: error E1040 plugin used in a spec but not declared \(at \/paths/,
      ),
      expect.stringMatching(
        /^gw: a GatewayProject that uses it has errors with other objects: E1010 \(.*\); its status/,
      ),
    ]);
    // What else there is, is for those to know who may read it: neither names nor paths of others.
    expect(warnings?.join('\n')).not.toMatch(/shop|other\./);
  });

  it('is admitted silently where all is there', async () => {
    const { create, there } = rig();
    await there(gatewayProjects, 'shop', project);
    expect(await create('ApiSpec', 'books', document({ '/a': mock }))).toEqual({ allowed: true, warnings: [] });
  });

  it('that came in while nobody was asked may be relabelled and deleted, but not made worse', async () => {
    const { request } = rig();
    const bad = { source: { inline: 'no document' } };
    expect(await request('UPDATE', 'ApiSpec', 'books', bad, bad)).toEqual({ allowed: true });
    expect((await request('DELETE', 'ApiSpec', 'books', bad)).allowed).toBe(true);
    expect((await request('UPDATE', 'ApiSpec', 'books', { source: { inline: 'other' } }, bad)).allowed).toBe(false);
  });

  it('that is in use is deleted with a warning', async () => {
    const { request, there } = rig();
    await there(gatewayProjects, 'shop', project);
    const { allowed, warnings } = await request('DELETE', 'ApiSpec', 'books', document({}));
    expect(allowed).toBe(true);
    expect(warnings?.[0]).toContain('"books" is in use by 1 GatewayProject(s)');
  });

  it('is not looked at where it would have to be fetched, or has not been in time', async () => {
    const url = { source: { url: { url: 'https://example.org/a.yaml', sha256: 'a'.repeat(64) } } };
    expect(await rig().create('ApiSpec', 'books', url)).toEqual({ allowed: true, warnings: [] });
    const objects = new MemoryObjects();
    objects.list = () => new Promise(() => undefined);
    const late = await rig({ objects, deadlineMs: 50 }).create('ApiSpec', 'books', url);
    expect(late).toEqual({
      allowed: true,
      warnings: ['gw: it was not checked in time; its status will show whether it is valid'],
    });
  });

  it('waits for its turn, and is admitted unseen where that does not come in time', async () => {
    const objects = new MemoryObjects();
    const listed = Promise.withResolvers<readonly never[]>();
    objects.list = () => listed.promise;
    const review = boundedReview({ maxRunning: 1, maxRunningOfNamespace: 1 });
    const { deps, asked } = rig({ objects });
    const wrong = asked('ApiSpec', 'other', { source: { inline: 'wrong' } });
    const first = review(deps, asked('ApiSpec', 'books', document({ '/a': mock })));
    expect((await review({ ...deps, deadlineMs: 1 }, wrong)).warnings?.[0]).toContain('not checked in time');
    const second = review(deps, wrong);
    listed.resolve([]);
    await first;
    expect((await second).allowed).toBe(false);
  });

  it('holds its turn until its work has ended, also past its answer', async () => {
    const objects = new MemoryObjects();
    const listed = Promise.withResolvers<readonly never[]>();
    objects.list = () => listed.promise;
    const review = boundedReview({ maxRunning: 1, maxRunningOfNamespace: 1 });
    const { deps, asked } = rig({ objects });
    const late = { ...deps, deadlineMs: 50 };
    const wrong = asked('ApiSpec', 'other', { source: { inline: 'wrong' } });
    const right = asked('ApiSpec', 'books', {
      source: { url: { url: 'https://example.org/a', sha256: 'a'.repeat(64) } },
    });
    expect((await review(late, right)).warnings?.[0]).toContain('not checked in time');
    expect((await review(late, wrong)).allowed).toBe(true);
    listed.resolve([]);
    expect((await review(deps, wrong)).allowed).toBe(false);
  });

  it('is admitted when the check itself breaks', async () => {
    const objects = new MemoryObjects();
    objects.list = async () => {
      throw new Error('the API server is away');
    };
    const { create, errors } = rig({ objects });
    const { allowed, warnings } = await create('ApiSpec', 'books', document({ '/a': mock }));
    expect([allowed, warnings, errors.length]).toEqual([
      true,
      ['gw: it could not be checked; its status will show whether it is valid'],
      1,
    ]);
  });
});

describe('other kinds', () => {
  it.each([
    ['an egress entry', { ...project, egress: { allow: ['10.0.0.0/99'] } }, 'spec.egress.allow: '],
    [
      'an upstream',
      { ...project, upstreams: { a: { url: 'api.example' } } },
      'spec.upstreams.a.url: write scheme and host',
    ],
    [
      'an upstream with a password',
      { ...project, upstreams: { a: { url: 'https://me:secret@x' } } },
      'holds credentials',
    ],
    [
      'a password in the URL of a plugin',
      { ...project, plugins: [{ name: 'http-upstream', config: { url: 'https://me:secret@x' } }] },
      'spec.plugins[name=http-upstream].config/url: https://x holds credentials in its URL',
    ],
    [
      'an MCP upstream with a credential in plain text',
      {
        ...project,
        mcp: { upstreams: { wiki: { url: 'https://wiki.example/mcp', headers: { authorization: 'x' } } } },
      },
      'spec.mcp.upstreams.wiki: header "authorization" is a credential in plain text',
    ],
    [
      'an MCP upstream of another scheme',
      { ...project, mcp: { upstreams: { wiki: { url: 'file:///mcp' } } } },
      'spec.mcp.upstreams.wiki: "url" must begin with https://',
    ],
    [
      'a selector',
      { specs: { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      'spec.specs.selector.matchExpressions[0]: In requires at least one of values',
    ],
    [
      'a template patch',
      { ...project, pods: { template: { spec: { containers: [{ image: 'x' }] } } } },
      'spec.pods.template: ',
    ],
    [
      'a pod of the node',
      { ...project, pods: { template: { spec: { hostPID: true } } } },
      'spec.pods.template: spec.hostPID must be allowed with --allow-pod-fields hostPID of the operator',
    ],
    [
      'an image from elsewhere',
      { ...project, pods: { image: 'evil.example/gw:1' } },
      'spec.pods: image "evil.example/gw:1" must be allowed with --allow-images of the operator',
    ],
    [
      'a control plane whose path it chooses',
      { ...project, controlPlane: { url: 'https://control.example/admin?', secret: 's' } },
      'spec.controlPlane.url: it has a query or a fragment',
    ],
  ])('a GatewayProject is refused for %s', async (_, spec, expected) => {
    const { allowed, message } = await rig().create('GatewayProject', 'shop', spec);
    expect(allowed).toBe(false);
    expect(message).toContain(expected);
    expect(message).not.toContain('secret');
  });

  it('a GatewayProject is told that it does not compile, and nothing of the documents that it takes', async () => {
    const { create, there } = rig();
    await there(apiSpecs, 'hidden', document({ '/salaries': get({ name: 'none' }) }));
    await there(apiSpecs, 'broken', { source: { configMap: { name: 'hidden-too' } } });
    const one = await create('GatewayProject', 'shop', { ...project, specs: { selector: {} } });
    expect(one.warnings).toEqual(['gw: 1 ApiSpec(s) or plugin(s) of it are not accepted: their status says why']);
    const two = await create('GatewayProject', 'shop', { ...project, specs: { names: ['hidden'] } });
    expect(two.warnings).toEqual([
      'gw: it does not compile: E1040 (plugin used in a spec but not declared); its status says where',
    ]);
  });

  it('a GatewayProject comes before its specs and plugins, with a warning', async () => {
    const { allowed, warnings } = await rig().create('GatewayProject', 'shop', project);
    expect(allowed).toBe(true);
    expect(warnings).toEqual(['gw: ApiSpec "books" does not exist']);
  });

  it.each([
    [
      'an unknown built-in plugin',
      { source: { builtin: { name: 'none' } } },
      '"none" is not a plugin that comes with gw',
    ],
    ['no word of which built-in plugin', { source: { builtin: {} } }, 'spec.source.builtin.name: name the plugin'],
    ['another version', { version: '9.9.9', source: { builtin: { name: 'mock' } } }, 'the built-in "mock" has version'],
    ['a key that is none', { verify: { keys: ['zz'] }, source: { configMap: { name: 'x' } } }, 'spec.verify.keys[0]'],
  ])('a PluginRef is refused for %s', async (_, spec, expected) => {
    const { allowed, message } = await rig().create('PluginRef', 'mine', spec);
    expect([allowed, message]).toEqual([false, expect.stringContaining(expected)]);
  });

  it('a PluginRef that is in use is deleted with a warning', async () => {
    const { request, there } = rig();
    await there(gatewayProjects, 'shop', { ...project, plugins: [{ name: 'mine', pluginRef: 'mine' }] });
    await there(pluginRefs, 'mine', { source: { configMap: { name: 'x' } } });
    const { allowed, warnings } = await request('DELETE', 'PluginRef', 'mine', {
      source: { configMap: { name: 'x' } },
    });
    expect([allowed, warnings?.[0]]).toEqual([true, expect.stringContaining('PluginRef "mine" is in use')]);
  });

  it('a Deployment stays with its project, and may come before it', async () => {
    const { request, create, there } = rig();
    const latest = { project: 'shop', artifact: { latest: true } };
    expect((await create('Deployment', 'd', latest)).warnings).toEqual([
      'gw: GatewayProject "shop" does not exist (yet)',
    ]);
    const moved = await request('UPDATE', 'Deployment', 'd', { ...latest, project: 'other' }, latest);
    expect([moved.allowed, moved.message]).toEqual([false, expect.stringContaining('spec.project cannot change')]);
    await there(gatewayProjects, 'shop', project);
    const { warnings } = await create('Deployment', 'd', { project: 'shop', artifact: { revision: 7 } });
    expect(warnings).toEqual(['gw: GatewayProject "shop" keeps no such revision: its status says which it keeps']);
    expect(deployments.kind).toBe('Deployment');
  });
});
