/** Compilations over REST, on both databases. */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readArtifact } from '@gw/gateway/artifact';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  bigSpec,
  bookstore,
  bookstoreHash,
  compile,
  compiled,
  createProject,
  follow,
  gw,
  hashByCommandLine,
  specOf,
  uploadSpec,
} from '../../../../test/control/compiling.ts';
import { DATABASE_AT_HAND, unopenedDatabase } from '../../../../test/control/database.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from '../../../../test/control/server.ts';
import { GW_CONTROL } from '../../../../test/programs/gw-control.ts';
import { programEnv } from '../../../../test/programs/program.ts';
import type { Compilation } from './schemas.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-compilations-'));
afterAll(() => rmSync(dir, { recursive: true }));
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const KEY_FILE = join(dir, 'key.pem');
writeFileSync(KEY_FILE, privateKey.export({ type: 'pkcs8', format: 'pem' }));
const PUBLIC_KEY = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');

const NOWHERE = '00000000-0000-4000-8000-000000000000';
const UNBOUND = 'openapi: 3.1.0\ninfo: { title: x, version: "1" }\npaths:\n  /a:\n    get: {}\n';
const PLAINTEXT = `openapi: 3.1.0
info: { title: x, version: "1" }
paths:
  /a:
    get:
      x-gw-dispatch: { name: http-upstream, config: { url: "http://books.example" } }
`;

describe.each(DATABASE_AT_HAND)('compilations on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over REST', () => {
    let database: Awaited<ReturnType<typeof unopenedDatabase>>;
    let server: ControlServer;
    beforeAll(async () => {
      database = await unopenedDatabase(kind);
      const args = [
        '--signing-key',
        KEY_FILE,
        '--allow-plaintext',
        '--compile-concurrency',
        '1',
        '--admin-bind',
        'off',
      ];
      server = await startControl({ databaseUrl: database.url, args });
    });
    afterAll(async () => {
      await server?.stop();
      await database?.drop();
    });

    it('give the artifact_hash of gw compile, by the spec and by its project', async () => {
      const { projectId, specId } = await bookstore(server);
      const [bySpec, byProject, byCommandLine] = await Promise.all([
        compiled(server, `/specs/${specId}`),
        compiled(server, `/projects/${projectId}`),
        bookstoreHash(),
      ]);
      expect(bySpec).toMatchObject({ status: 'succeeded', spec_id: specId, project_id: projectId, stage: null });
      expect(bySpec.artifact_hash).toBe(byCommandLine);
      expect(byProject).toMatchObject({ spec_id: null, artifact_hash: byCommandLine, artifact_id: bySpec.artifact_id });
    });

    it('give the artifact_hash of gw compile with upstream MCP servers', async () => {
      const wiki = { url: 'https://wiki.example.org/mcp', timeout: 5, prefix: '', allow: ['search'] };
      const reordered = { allow: ['search'], prefix: '', url: wiki.url, timeout: 5 };
      const project = await createProject(server, { mcp: { upstreams: { wiki } } });
      await uploadSpec(server, 'agents.yaml', UNBOUND, project);
      const folder = mkdtempSync(join(dir, 'mcp-'));
      writeFileSync(join(folder, 'agents.yaml'), UNBOUND);
      writeFileSync(join(folder, 'gw.yaml'), JSON.stringify({ specs: '.', mcp: { upstreams: { wiki: reordered } } }));
      const byProject = await compiled(server, `/projects/${project}`);
      expect(byProject).toMatchObject({ status: 'succeeded' });
      expect(byProject.artifact_hash).toBe(await hashByCommandLine(join(folder, 'gw.yaml')));
      const without = await createProject(server);
      await uploadSpec(server, 'agents.yaml', UNBOUND, without);
      expect((await compiled(server, `/projects/${without}`)).artifact_hash).not.toBe(byProject.artifact_hash);
    });

    it('are asked for with 202 and where they are found, and tell how they go on until they end', async () => {
      const spec = await uploadSpec(server, 'told.yaml', specOf(2_000));
      const response = await server.ask(`/specs/${spec}/compile`, { method: 'POST', json: {} });
      expect(response.status).toBe(202);
      const asked = (await response.json()) as Compilation;
      expect(response.headers.get('location')).toBe(`/compilations/${asked.id}`);
      expect(asked).toMatchObject({
        status: 'pending',
        attempts: 0,
        production: false,
        started_at: null,
        warnings: [],
      });
      const told = await follow(server, asked.id);
      const order = ['pending', 'compiling', 'succeeded'];
      const ranks = told.map(({ status }) => order.indexOf(status));
      expect(ranks).toEqual([...ranks].sort());
      expect(told.some(({ stage }) => stage === 'compiling')).toBe(true);
      const last = await server.get(`/compilations/${asked.id}`);
      expect(told.at(-1)).toEqual(last);
      expect(last).toMatchObject({ status: 'succeeded', attempts: 1, artifact_id: expect.any(String) });
      expect(await follow(server, asked.id)).toEqual([last]);
    });

    it('fail with what is wrong, where, and in which spec', async () => {
      const text = specOf(1).replace('mock', 'mook');
      const good = await uploadSpec(server, 'good.yaml', specOf(1).replace('/p0', '/q'));
      const spec = await uploadSpec(server, 'wrong.yaml', text);
      const failed = await compiled(server, `/specs/${good}`, { additional_specs: [spec] });
      expect(failed).toMatchObject({ status: 'failed', warnings: [], completed_at: expect.any(String) });
      expect(failed.artifact_id).toBeUndefined();
      expect(failed.errors).toEqual([
        expect.objectContaining({ code: 'E1040', severity: 'error', spec_id: spec, file: 'wrong.yaml', line: 5 }),
      ]);
      expect(JSON.stringify(failed.errors)).not.toContain(`${spec}/`);
    });

    it('say which plugins a project is to declare, with the commands, which then do', async () => {
      const project = `p-${crypto.randomUUID()}`;
      const projectId = await createProject(server, { name: project });
      const text = `${specOf(1)}  /q:
    get:
      x-gw-middlewares: [{ name: rate-limit, config: { quota: 1, window: 1 } }, { name: home-made }]
      x-gw-dispatch: { name: mock }
`;
      const specId = await uploadSpec(server, 'undeclared.yaml', text, projectId);
      const [first, ...others] = (await compiled(server, `/projects/${projectId}`)).errors ?? [];
      const add = (name: string) => `gw-control project-plugins add ${name} --project ${project}`;
      expect(first).toMatchObject({
        code: 'E1040',
        spec_id: specId,
        hint: `Declare what the specs use, and compile again: ${add('mock')} && ${add('rate-limit')}. no plugin is registered as "home-made": correct the name, or register it (gw-control plugins register)`,
      });
      expect(others.map(({ code }) => code)).toEqual(['E1040', 'E1040', 'E1040']);
      expect(others.some(({ hint }) => hint?.includes('gw-control project-plugins'))).toBe(false);
      const folder = mkdtempSync(join(tmpdir(), 'gw-undeclared-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const env = { ...programEnv(), XDG_CONFIG_HOME: folder, GW_CONTROL_TOKEN: ADMIN_TOKEN };
      for (const command of (/again: (.*?)\. no/.exec(first?.hint ?? '')?.[1] ?? '').split(' && ')) {
        const [, ...args] = command.split(' ');
        await promisify(execFile)(process.execPath, [GW_CONTROL, ...args, '--server', server.url], { env });
      }
      const { errors = [] } = await compiled(server, `/projects/${projectId}`);
      expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('"home-made" is not declared')]);
    });

    it('for production are strict, signed, and without plaintext upstreams', async () => {
      const spec = await uploadSpec(server, 'signed.yaml', specOf(1));
      const development = await compiled(server, `/specs/${spec}`);
      const production = await compiled(server, `/specs/${spec}`, { production: true });
      expect(production).toMatchObject({ status: 'succeeded', production: true });
      expect(production.artifact_id).not.toBe(development.artifact_id);
      const file = join(dir, `${kind}.gwa`);
      const download = async (id = '') =>
        Buffer.from(await (await server.ask(`/artifacts/${id}/download`)).arrayBuffer());
      writeFileSync(file, await download(production.artifact_id));
      await gw(['verify', file, '--key', PUBLIC_KEY]);
      expect((await readArtifact(await download(development.artifact_id))).manifest.signature).toBeUndefined();

      const unbound = await uploadSpec(server, 'unbound.yaml', UNBOUND);
      const codes = (each: Compilation['warnings'] | undefined) => each?.map(({ code }) => code);
      expect(codes((await compiled(server, `/specs/${unbound}`)).warnings)).toEqual(['E1020']);
      const strict = await compiled(server, `/specs/${unbound}`, { production: true });
      expect([strict.status, codes(strict.errors), codes(strict.warnings)]).toEqual(['failed', ['E1020'], []]);
      const plaintext = await uploadSpec(server, 'plaintext.yaml', PLAINTEXT);
      expect(await compiled(server, `/specs/${plaintext}`)).toMatchObject({ status: 'succeeded' });
      const refused = await compiled(server, `/specs/${plaintext}`, { production: true });
      expect(codes(refused.errors)).toEqual(['E1031']);
    });

    it('take what there was when they were asked for', async () => {
      const spec = await uploadSpec(server, 'pinned.yaml', specOf(3));
      const before = await compile(server, `/specs/${spec}`);
      await uploadSpec(server, 'pinned.yaml', specOf(4));
      const after = await compiled(server, `/specs/${spec}`);
      const [first] = (await follow(server, before.id)).slice(-1);
      expect([first, after].map((each) => each?.specs[0]?.revision)).toEqual([1, 2]);
      expect(first?.artifact_hash).not.toBe(after.artifact_hash);
    });

    it('take additional specs of the same project or of none', async () => {
      const [one, two] = [await createProject(server), await createProject(server)];
      const spec = await uploadSpec(server, 'a.yaml', specOf(1), one);
      const foreign = await uploadSpec(server, 'b.yaml', specOf(1), two);
      const free = await uploadSpec(server, 'free.yaml', UNBOUND);
      const ask = (of: string, additional: string) =>
        server.ask(`/specs/${of}/compile`, { method: 'POST', json: { additional_specs: [additional] } });
      expect((await ask(spec, foreign)).status).toBe(409);
      expect((await ask(free, spec)).status).toBe(409);
      expect((await ask(spec, NOWHERE)).status).toBe(404);
      expect((await ask(NOWHERE, spec)).status).toBe(404);
      expect((await ask(spec, `urn:uuid:${free}`)).status).toBe(400);
      const together = await ask(spec, free);
      expect([together.status, ((await together.json()) as Compilation).specs.length]).toEqual([202, 2]);
    });

    it('of a project take all its specs; there must be one', async () => {
      const project = await createProject(server);
      const ask = () => server.ask(`/projects/${project}/compile`, { method: 'POST', json: {} });
      expect((await ask()).status).toBe(409);
      const plugins = await server.get<readonly { name: string; version: string }[]>('/plugins?name=mock');
      const version = plugins.find(({ name }) => name === 'mock')?.version;
      const json = { plugin_name: 'mock', plugin_version: version, enabled: true, config: {} };
      await server.get(`/projects/${project}/plugins`, { method: 'POST', json });
      for (const name of ['a', 'b']) {
        await uploadSpec(server, `${name}.yaml`, specOf(1).replace('/p0', `/${name}`), project);
      }
      const done = await compiled(server, `/projects/${project}`);
      expect(done).toMatchObject({ status: 'succeeded', spec_id: null });
      expect(await server.get(`/artifacts/${done.artifact_id}`)).toMatchObject({
        project_id: project,
        routes_count: 2,
        specs: ['a.yaml', 'b.yaml'],
        plugins: [{ name: 'mock', version }],
      });
      expect((await server.ask(`/projects/${NOWHERE}/compile`, { method: 'POST', json: {} })).status).toBe(404);
    });

    it('are listed by spec and project, by status, in pages', async () => {
      const project = await createProject(server);
      const spec = await uploadSpec(server, 'list.yaml', UNBOUND, project);
      const asked: string[] = [];
      for (let i = 0; i < 3; i++) asked.push((await compiled(server, `/specs/${spec}`, { production: i === 1 })).id);
      const ids = async (path: string) => (await server.get<Compilation[]>(path)).map(({ id }) => id);
      expect(await ids(`/specs/${spec}/compilations`)).toEqual([...asked].reverse());
      expect(await ids(`/projects/${project}/compilations?sort=created_at`)).toEqual(asked);
      expect(await ids(`/specs/${spec}/compilations?status=failed`)).toEqual([asked[1]]);
      const page = await server.ask(`/specs/${spec}/compilations?limit=2`);
      expect(((await page.json()) as Compilation[]).map(({ id }) => id)).toEqual([asked[2], asked[1]]);
      const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
      expect(await ids(next)).toEqual([asked[0]]);
      expect((await server.ask(`/specs/${NOWHERE}/compilations`)).status).toBe(404);
      expect((await server.ask(`/projects/${NOWHERE}/compilations`)).status).toBe(404);
    });

    it('are deleted unless they are at work; the artifact stays', async () => {
      const spec = await uploadSpec(server, 'big.yaml', bigSpec());
      const { id } = await compile(server, `/specs/${spec}`);
      const waiting = await compile(server, `/specs/${spec}`);
      const events = await server.ask(`/compilations/${id}/events`);
      let told = '';
      for await (const chunk of events.body ?? []) {
        told += Buffer.from(chunk).toString();
        if (told.includes('"status":"compiling"')) break;
      }
      const remove = async (which: string) => (await server.ask(`/compilations/${which}`, { method: 'DELETE' })).status;
      expect(await remove(id)).toBe(409);
      const unheard = await server.ask(`/compilations/${waiting.id}/events`);
      expect(await remove(waiting.id)).toBe(204);
      expect(await unheard.text()).not.toContain('"status":"compiling"');
      const done = (await follow(server, id)).at(-1);
      expect(done?.status).toBe('succeeded');
      // It has no ETag: none can match.
      const conditional = { method: 'DELETE', headers: { 'if-match': '"1"' } };
      expect((await server.ask(`/compilations/${id}`, conditional)).status).toBe(412);
      expect([await remove(id), await remove(id)]).toEqual([204, 404]);
      expect((await server.ask(`/compilations/${id}`)).status).toBe(404);
      expect((await server.ask(`/compilations/${id}/events`)).status).toBe(404);
      expect((await server.ask(`/compilations/urn:uuid:${id}`)).status).toBe(404);
      expect((await server.ask(`/artifacts/${done?.artifact_id}`)).status).toBe(200);
    });

    it('are for editors, of their project alone', async () => {
      const project = await createProject(server);
      const spec = await uploadSpec(server, 'mine.yaml', UNBOUND, project);
      const free = await uploadSpec(server, 'nobodys.yaml', UNBOUND);
      const token = async (role: string, project_id: string) => {
        const json = { name: crypto.randomUUID(), role, project_id };
        return (await server.get<{ token: string }>('/tokens', { method: 'POST', json })).token;
      };
      const [viewer, editor] = [await token('viewer', project), await token('editor', project)];
      const stranger = await token('admin', await createProject(server));
      const ask = async (given: string, of = spec) =>
        server.ask(`/specs/${of}/compile`, { method: 'POST', json: {}, token: given });
      expect([(await ask(viewer)).status, (await ask(stranger)).status]).toEqual([403, 404]);
      expect((await ask(editor, free)).status).toBe(404);
      const asked = await ask(editor);
      const { id } = (await asked.json()) as Compilation;
      expect(asked.status).toBe(202);
      const see = async (given: string) => (await server.ask(`/compilations/${id}`, { token: given })).status;
      expect([await see(viewer), await see(stranger)]).toEqual([200, 404]);
      const entries = await server.get<object[]>('/audit?action=compilations.compileSpec&limit=200');
      expect(entries).toContainEqual(expect.objectContaining({ resource_id: id, action: 'compilations.compileSpec' }));
    });
  });
});
