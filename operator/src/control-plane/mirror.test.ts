/** A GatewayProject's project at a real control plane: what is sent, what is asked for, what others do there. */
import { compileProject } from '@gw/control';
import { loadBuiltinPlugin, type Project } from '@gw/gateway/compiler';
import { EgressGuard } from '@gw/gateway/egress';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ADMIN_TOKEN, type ControlServer, startControl } from '../../../test/control/server.ts';
import { eventually } from '../../../test/eventually.ts';
import { freePort } from '../../../test/free-port.ts';
import { Connections } from './connection.ts';
import { type DeploymentRequest, type DesiredProject, Mirror, type Seen } from './mirror.ts';

// Every process that is started here, and every thread, wants a CPU at once.
vi.setConfig({ testTimeout: 120_000 });

const spec = (body: string, more = '') => `openapi: 3.1.0
info: { title: Books, version: "1" }
paths:
  /books:
    get:
      x-gw-dispatch: { name: mock, config: { body: ${body} } }
      responses: { 200: { description: OK } }
${more}`;

/** Two ApiSpecs, one of them of two files, as the cluster gathers them. */
function inputsOf(body: string): Project {
  const files = {
    'books/books.yaml': spec(body),
    'pets/pets.yaml': `openapi: 3.1.0
info: { title: Pets, version: "1" }
paths:
  /pets:
    post:
      requestBody: { content: { application/json: { schema: { $ref: "schemas.yaml#/Pet" } } } }
      x-gw-dispatch: { name: mock }
      responses: { 200: { description: OK } }
`,
    'pets/schemas.yaml': 'Pet: { type: object, required: [name], properties: { name: { type: string } } }\n',
  };
  return {
    specs: ['books/books.yaml', 'pets/pets.yaml'],
    files: Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    plugins: [loadBuiltinPlugin('mock')],
    upstreams: { shop: { url: 'https://shop.example.org' } },
    mcp: { upstreams: { wiki: { url: 'https://wiki.example.org/mcp', prefix: '', allow: ['search'] } } },
    flags: { production: true },
  };
}

async function compiledOf(body: string) {
  const inputs = inputsOf(body);
  const result = await compileProject(inputs);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  const { artifact, artifactHash } = result;
  return { inputs, artifactHash, production: true, archive: async () => artifact };
}
type Compiled = Awaited<ReturnType<typeof compiledOf>>;

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly revision: number;
  readonly artifact_hash: string;
  readonly artifact_id: string;
  readonly created_by: string;
  readonly signed: boolean;
  readonly upstreams: Readonly<Record<string, string>>;
  readonly mcp: object;
  readonly deployed_artifact_id: string;
}

describe('a project at a control plane', () => {
  let server: ControlServer;
  let port: number;
  let token: string;
  let one: Compiled;
  let two: Compiled;
  const mirrors: Mirror[] = [];
  const connections = new Connections(new EgressGuard({ allowInternal: true, allow: [] }));

  beforeAll(async () => {
    port = await freePort();
    server = await startControl({ args: ['--listen', `127.0.0.1:${port}`, '--admin-bind', 'off'] });
    const json = { name: 'cluster', role: 'admin', project_id: null };
    token = (await server.get<{ token: string }>('/tokens', { method: 'POST', json })).token;
    [one, two] = [await compiledOf('one'), await compiledOf('two')];
  });
  afterEach(() => Promise.all(mirrors.splice(0).map((mirror) => mirror.close())));
  afterAll(() => server?.stop());

  const desired = (name: string, compiled: Compiled, more: Partial<DesiredProject> = {}): DesiredProject => ({
    name,
    owner: `shop/${name}`,
    access: { url: server.url, token },
    compiled,
    request: request(compiled),
    ...more,
  });
  const request = (compiled: Compiled, by = compiled.artifactHash): DeploymentRequest => ({ ...compiled, by });

  function start(what: DesiredProject, before: Seen = { drift: [] }) {
    const mirror = new Mirror(what, { connections, before, onChange: () => {} });
    mirrors.push(mirror);
    return mirror;
  }
  const soon = (mirror: Mirror, seen: (seen: Seen) => boolean) =>
    eventually(() => expect(seen(mirror.seen), JSON.stringify(mirror.seen)).toBe(true));
  const projectOf = async (mirror: Mirror) => `/projects/${mirror.seen.projectId}`;
  const isDeployed = (hash: string) => (seen: Seen) => seen.latest?.artifact_hash === hash && !seen.problem;

  it('has its specs, plugins, upstreams and artifact, deployed by the cluster, with one hash at every door', async () => {
    const mirror = start(desired('all', one));
    await soon(mirror, isDeployed(one.artifactHash));
    const at = await projectOf(mirror);
    const project = await server.get<Shown>(at);
    expect(project).toMatchObject({ name: 'all', upstreams: { shop: 'https://shop.example.org' } });
    expect(project.mcp).toEqual(one.inputs.mcp);
    expect(project.description).toContain('Managed by GatewayProject shop/all');
    const specs = await server.get<Shown[]>(`${at}/specs`);
    expect(specs.map(({ name, revision }) => [name, revision]).toSorted()).toEqual([
      ['books', 1],
      ['pets', 1],
    ]);
    expect(await server.get(`${at}/plugins`)).toMatchObject([{ plugin_name: 'mock', enabled: true }]);
    const [deployment] = await server.get<Shown[]>(`${at}/deployments`);
    expect(deployment).toMatchObject({ artifact_hash: one.artifactHash, created_by: 'token:cluster' });
    expect(mirror.seen.asked).toMatchObject({ by: one.artifactHash });
    const compiled = await server.get<Shown>(`${at}/compile`, { method: 'POST', json: { production: true } });
    await eventually(async () =>
      expect(await server.get(`/compilations/${compiled.id}`)).toMatchObject({ artifact_hash: one.artifactHash }),
    );
    expect(mirror.seen.drift).toEqual([]);
  });

  it('takes a change as a revision, sends nothing twice, and asks again for what it had before', async () => {
    const mirror = start(desired('changes', one));
    await soon(mirror, isDeployed(one.artifactHash));
    mirror.desire(desired('changes', two));
    await soon(mirror, isDeployed(two.artifactHash));
    mirror.desire(desired('changes', one));
    await soon(mirror, isDeployed(one.artifactHash));
    const at = await projectOf(mirror);
    const specs = await server.get<Shown[]>(`${at}/specs`);
    expect(specs.map(({ name, revision }) => [name, revision]).toSorted()).toEqual([
      ['books', 3],
      ['pets', 1],
    ]);
    expect((await server.get<Shown[]>(`${at}/deployments`)).map(({ artifact_hash }) => artifact_hash)).toEqual(
      [one, two, one].map(({ artifactHash }) => artifactHash),
    );
    // One that begins with what the status remembers does nothing anew.
    const { projectId, synced, asked } = mirror.seen;
    if (!projectId || !synced || !asked) throw new Error('not remembered');
    const next = start(desired('changes', one), { projectId, synced, asked, drift: [] });
    await soon(next, isDeployed(one.artifactHash));
    expect(await server.get<Shown[]>(`${at}/deployments`)).toHaveLength(3);
    expect(await server.get<Shown[]>(`${at}/artifacts`)).toHaveLength(2);
  });

  it('sees at once what others deploy, and leaves it until the cluster wants something else', async () => {
    const mirror = start(desired('others', one));
    await soon(mirror, isDeployed(one.artifactHash));
    mirror.desire(desired('others', two));
    await soon(mirror, isDeployed(two.artifactHash));
    const at = await projectOf(mirror);
    await server.get(`${at}/rollback`, { method: 'POST', json: {} });
    await soon(mirror, isDeployed(one.artifactHash));
    expect(mirror.seen.latest).toMatchObject({ created_by: 'admin', kind: 'rollback' });
    mirror.desire(desired('others', two));
    expect(await server.get<Shown[]>(`${at}/deployments`)).toHaveLength(3);
    mirror.desire(desired('others', two, { request: request(two, 'a Deployment') }));
    await soon(mirror, isDeployed(two.artifactHash));
    expect(mirror.seen.latest).toMatchObject({ created_by: 'token:cluster', kind: 'deploy' });
  });

  it('tells what was changed there, and puts it back with the next change', async () => {
    const before = start(desired('drifts', one));
    await soon(before, isDeployed(one.artifactHash));
    const at = await projectOf(before);
    const { projectId, synced, asked } = before.seen;
    await before.close();
    const body = new FormData();
    body.append('file', new Blob([spec('other')]), 'books.yaml');
    await server.get(`${at}/specs`, { method: 'POST', body });
    body.set('file', new Blob([spec('other')]), 'more.yaml');
    await server.get(`${at}/specs`, { method: 'POST', body });
    if (!projectId || !synced || !asked) throw new Error('not remembered');
    const mirror = start(desired('drifts', one), { projectId, synced, asked, drift: [] });
    await soon(mirror, ({ drift }) => drift.length === 2);
    expect(mirror.seen.drift).toEqual([
      expect.stringContaining('spec "books" was changed there'),
      expect.stringContaining('spec "more" was added there'),
    ]);
    mirror.desire(desired('drifts', two));
    await soon(mirror, (seen) => isDeployed(two.artifactHash)(seen) && seen.drift.length === 0);
    expect((await server.get<Shown[]>(`${at}/specs`)).map(({ name }) => name).toSorted()).toEqual(['books', 'pets']);
  });

  it('says what is wrong with the token, takes another, and gives away nothing of either', async () => {
    const mirror = start(desired('token', one, { access: { url: server.url, token: 'gwt_revoked' } }));
    await soon(mirror, ({ problem }) => problem?.kind === 'refused');
    expect(mirror.seen.problem?.message).toContain('401');
    expect(JSON.stringify(mirror.seen)).not.toContain('gwt_revoked');
    mirror.desire(desired('token', one));
    await soon(mirror, isDeployed(one.artifactHash));
  });

  it('leaves a project alone that another GatewayProject has', async () => {
    await soon(start(desired('taken', one)), isDeployed(one.artifactHash));
    const other = start(desired('taken', two, { owner: 'other/taken' }));
    await soon(other, ({ problem }) => problem?.kind === 'taken');
    expect(other.seen.problem?.message).toMatch(/^another GatewayProject manages/);
  });

  it('loses nothing while nobody answers', async () => {
    const mirror = start(desired('away', one));
    await soon(mirror, isDeployed(one.artifactHash));
    mirror.desire(
      desired('away', one, { access: { url: `http://127.0.0.1:${await freePort()}`, token: ADMIN_TOKEN } }),
    );
    await soon(mirror, ({ problem }) => problem?.kind === 'away');
    mirror.desire(
      desired('away', two, { access: { url: `http://127.0.0.1:${await freePort()}`, token: ADMIN_TOKEN } }),
    );
    await soon(mirror, ({ problem }) => problem?.kind === 'away');
    expect(mirror.seen.latest?.artifact_hash).toBe(one.artifactHash);
    mirror.desire(desired('away', two));
    await soon(mirror, isDeployed(two.artifactHash));
  });

  it('connects to no loopback or link-local address in a cluster', async () => {
    const guarded = new Mirror(desired('guarded', one), {
      connections: new Connections(new EgressGuard({ allowInternal: false, allow: [] })),
      before: { drift: [] },
      onChange: () => {},
    });
    mirrors.push(guarded);
    await soon(
      guarded,
      ({ problem }) => problem?.kind === 'forbidden' && problem.message.endsWith('--egress-allow of the operator'),
    );
  });
});
