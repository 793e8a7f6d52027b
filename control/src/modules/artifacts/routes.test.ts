/** Artifacts over REST, on both databases. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { readArtifact } from '@gw/gateway/artifact';
import { loadBuiltinPlugin } from '@gw/gateway/compiler';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiled, createProject, specOf, uploadSpec } from '../../../../test/control/compiling.ts';
import { DATABASE_AT_HAND, unopenedDatabase } from '../../../../test/control/database.ts';
import { type AskInit, type ControlServer, startControl } from '../../../../test/control/server.ts';
import { compileProject } from '../../compile.ts';
import { CHUNK_BYTES } from '../../db/blobs.ts';
import type { Artifact, ArtifactDetail, ArtifactTools } from './schemas.ts';

const gzip = promisify(zlib.gzip);
const gunzip = promisify(zlib.gunzip);
const NOWHERE = '00000000-0000-4000-8000-000000000000';

describe.each(DATABASE_AT_HAND)('artifacts on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over REST', () => {
    let database: Awaited<ReturnType<typeof unopenedDatabase>>;
    let server: ControlServer;
    /** One of a project, larger than one row of its bytes. */
    let projectId: string;
    let specId: string;
    let id: string;
    let bytes: Buffer;
    beforeAll(async () => {
      database = await unopenedDatabase(kind);
      server = await startControl({ databaseUrl: database.url, args: ['--admin-bind', 'off'] });
      projectId = await createProject(server, { name: 'shop' });
      await addMock();
      // What is random does not compress.
      const noise = Array.from({ length: 16_000 }, () => crypto.randomUUID()).join('');
      specId = await uploadSpec(server, 'shop.yaml', specOf(2, `x-noise: ${noise}\n`), projectId);
      id = (await compiled(server, `/specs/${specId}`)).artifact_id ?? '';
      bytes = Buffer.from(await (await server.ask(`/artifacts/${id}/download`)).arrayBuffer());
    });
    afterAll(async () => {
      await server?.stop();
      await database?.drop();
    });

    async function addMock(): Promise<void> {
      const plugins = await server.get<readonly { name: string; version: string }[]>('/plugins?name=mock');
      const plugin_version = plugins.find(({ name }) => name === 'mock')?.version;
      const json = { plugin_name: 'mock', plugin_version, enabled: true, config: {} };
      await server.get(`/projects/${projectId}/plugins`, { method: 'POST', json });
    }

    const download = (headers: Record<string, string> = {}, init: AskInit = {}) =>
      server.ask(`/artifacts/${id}/download`, { headers, ...init });

    it('have the documents of their APIs, for all who may see the project', async () => {
      const project = await createProject(server, { name: 'documented' });
      const plugins = await server.get<readonly { version: string }[]>('/plugins?name=mock');
      const json = { plugin_name: 'mock', plugin_version: plugins[0]?.version, enabled: true, config: {} };
      await server.get(`/projects/${project}/plugins`, { method: 'POST', json });
      const spec = await uploadSpec(server, 'documented.yaml', specOf(1, 'x-gw-mcp: {enabled: true}\n'), project);
      const { artifact_id } = await compiled(server, `/specs/${spec}`);
      const viewer = async (project_id: string) => {
        const json = { name: `documents of ${project_id}`, role: 'viewer', project_id };
        const { token } = await server.get<{ token: string }>('/tokens', { method: 'POST', json });
        return server.ask(`/artifacts/${artifact_id}/documents`, { headers: { authorization: `Bearer ${token}` } });
      };
      const answer = await viewer(project);
      expect(answer.status).toBe(200);
      const text = await answer.text();
      expect(JSON.parse(text)).toMatchObject({
        documents: [{ name: 'documented.yaml', api: true, document: { openapi: expect.any(String), paths: {} } }],
      });
      expect(text).not.toContain('x-gw-');
      expect((await viewer(projectId)).status).toBe(404);
      expect((await server.ask(`/artifacts/${NOWHERE}/documents`)).status).toBe(404);
    });

    it('have the tools that agents are offered, for all who may see the project', async () => {
      const [project, other] = [await createProject(server, { name: 'agents' }), projectId];
      const plugins = await server.get<readonly { version: string }[]>('/plugins?name=mock');
      const json = { plugin_name: 'mock', plugin_version: plugins[0]?.version, enabled: true, config: {} };
      await server.get(`/projects/${project}/plugins`, { method: 'POST', json });
      const spec = await uploadSpec(server, 'agents.yaml', specOf(41, 'x-gw-mcp: {enabled: true}\n'), project);
      const { artifact_id } = await compiled(server, `/specs/${spec}`);
      const viewer = async (project_id: string) => {
        const json = { name: `tools of ${project_id}`, role: 'viewer', project_id };
        const { token } = await server.get<{ token: string }>('/tokens', { method: 'POST', json });
        return server.ask(`/artifacts/${artifact_id}/tools`, { headers: { authorization: `Bearer ${token}` } });
      };
      const answer = await viewer(project);
      expect(answer.status).toBe(200);
      const { tools, ...sums } = (await answer.json()) as ArtifactTools;
      expect(sums).toMatchObject({ enabled: true, count: 41, upstreams: [] });
      expect(sums.warnings).toEqual([expect.stringContaining('41 tools are more than the 40 that Cursor takes')]);
      expect(sums.tokens).toBe(tools.reduce((sum, { tokens }) => sum + tokens, 0));
      expect(tools[0]).toMatchObject({ method: 'GET', definition: { inputSchema: { type: 'object' } } });
      expect((await viewer(other)).status).toBe(404);
      expect((await server.ask(`/artifacts/${NOWHERE}/tools`)).status).toBe(404);
      expect(await server.get(`/artifacts/${id}/tools`)).toMatchObject({ enabled: false, tools: [], count: 0 });
    });

    it('are what was compiled, by content', async () => {
      const artifact = await server.get<ArtifactDetail>(`/artifacts/${id}`);
      const { manifest } = await readArtifact(bytes);
      expect(artifact).toMatchObject({
        project_id: projectId,
        artifact_hash: manifest.artifact_hash,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        size: bytes.length,
        signed: false,
        production: false,
        routes_count: 2,
        created_by: 'admin',
        manifest,
      });
      expect(bytes.length).toBeGreaterThan(CHUNK_BYTES);
    });

    it('are one for the same content in one project, and another where it is built for production', async () => {
      const again = await compiled(server, `/specs/${specId}`);
      expect(again.artifact_id).toBe(id);
      const production = await compiled(server, `/specs/${specId}`, { production: true });
      expect(production.artifact_id).not.toBe(id);
      expect(production.artifact_hash).toBe(again.artifact_hash);
      const elsewhere = await compiled(server, `/specs/${await uploadSpec(server, 'free.yaml', specOf(2))}`);
      expect(elsewhere).toMatchObject({ project_id: null, artifact_id: expect.not.stringMatching(id) });
    });

    it('are listed: all, of a project, by hash', async () => {
      const ids = async (path: string) => (await server.get<Artifact[]>(path)).map((each) => each.id);
      const { artifact_hash } = await server.get<Artifact>(`/artifacts/${id}`);
      expect(await ids('/artifacts')).toContain(id);
      expect(await ids(`/projects/${projectId}/artifacts`)).toContain(id);
      expect(await ids(`/projects/${projectId}/artifacts?artifact_hash=${artifact_hash}`)).toContain(id);
      expect(await ids(`/artifacts?artifact_hash=sha256:${'0'.repeat(64)}`)).toEqual([]);
      expect((await server.ask(`/projects/${NOWHERE}/artifacts`)).status).toBe(404);
    });

    it('are downloaded whole, once, with a name', async () => {
      const { headers } = await download();
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'application/vnd.gw.artifact',
        'content-length': String(bytes.length),
        'content-disposition': expect.stringMatching(/^attachment; filename="shop-[0-9a-f]{8}\.gwa"$/),
        'accept-ranges': 'bytes',
        etag: `"${createHash('sha256').update(bytes).digest('hex')}"`,
      });
      const known = await download({ 'if-none-match': headers.get('etag') ?? '' });
      expect([known.status, await known.text()]).toEqual([304, '']);
      const head = await download({}, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
        200,
        String(bytes.length),
        '',
      ]);
    });

    it.each([
      ['bytes=0-9', 0, 10],
      ['bytes=262140-262150', 262_140, 262_151],
      ['bytes=262144-', 262_144, Number.POSITIVE_INFINITY],
      ['bytes=-5', -5, Number.POSITIVE_INFINITY],
      ['bytes=5-99999999999', 5, Number.POSITIVE_INFINITY],
    ])('are downloaded in part: %s', async (range, start, end) => {
      const response = await download({ range });
      const part = bytes.subarray(start, end);
      const from = start < 0 ? bytes.length + start : start;
      expect([response.status, response.headers.get('content-range')]).toEqual([
        206,
        `bytes ${from}-${from + part.length - 1}/${bytes.length}`,
      ]);
      expect(Buffer.from(await response.arrayBuffer()).equals(part)).toBe(true);
    });

    it('are downloaded whole where the part cannot be told, or was of other bytes', async () => {
      const etag = (await download({}, { method: 'HEAD' })).headers.get('etag') ?? '';
      const status = async (headers: Record<string, string>) => {
        const response = await download(headers);
        await response.body?.cancel();
        return response.status;
      };
      for (const range of ['bytes=9-3', 'bytes=-', 'bytes=0-1,5-6', 'rows=1-2', 'bytes=x-']) {
        expect([range, await status({ range })]).toEqual([range, 200]);
      }
      const range = 'bytes=1-2';
      expect(await status({ range, 'if-range': etag })).toBe(206);
      for (const other of ['"other"', `W/${etag}`, 'Sat, 21 Nov 2026 00:00:00 GMT']) {
        expect(await status({ range, 'if-range': other })).toBe(200);
      }
    });

    it('have no part past their end: 416', async () => {
      for (const range of [`bytes=${bytes.length}-`, 'bytes=-0']) {
        const response = await download({ range });
        expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`]);
        expect(await response.json()).toMatchObject({ type: 'urn:gw:error:range-not-satisfiable' });
      }
    });

    // docs/decisions.md#open-endpoints
    it('are open to data planes of their project, for the download alone', async () => {
      const keyOf = async (project: string) => {
        const json = { name: crypto.randomUUID() };
        return (await server.get<{ key: string }>(`/projects/${project}/api-keys`, { method: 'POST', json })).key;
      };
      const [own, foreign] = [await keyOf(projectId), await keyOf(await createProject(server))];
      expect((await download({}, { method: 'HEAD', token: own })).status).toBe(200);
      expect((await download({ range: 'bytes=0-0' }, { token: own })).status).toBe(206);
      expect((await download({}, { token: foreign })).status).toBe(404);
      expect((await download({}, { token: 'gwk_nobodys' })).status).toBe(401);
      expect((await server.ask(`/artifacts/${id}`, { token: own })).status).toBe(401);
    });

    describe('that were compiled elsewhere', () => {
      const signing = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const text = Buffer.from(specOf(5));
      interface SendInit extends AskInit {
        readonly project?: string;
        readonly more?: Readonly<Record<string, string>>;
      }
      const send = (file: Uint8Array, { project = projectId, more = {}, ...init }: SendInit = {}) => {
        const body = new FormData();
        body.append('file', new Blob([new Uint8Array(file)]), 'made.gwa');
        for (const [name, value] of Object.entries(more)) body.append(name, value);
        return server.ask(`/projects/${project}/artifacts`, { method: 'POST', body, ...init });
      };
      let file: Uint8Array;
      let hash: string;
      beforeAll(async () => {
        const result = await compileProject({
          specs: ['made.yaml'],
          files: [{ name: 'made.yaml', bytes: text }],
          plugins: [loadBuiltinPlugin('mock')],
          flags: { production: true, signingKey: signing },
        });
        if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
        file = result.artifact;
        hash = result.artifactHash;
      });

      it('are imported as they are, once, with their signature; what compiles here has the same hash', async () => {
        const first = await send(file, { more: { production: 'true' } });
        const artifact: Artifact = JSON.parse(await first.text());
        expect(first.status, JSON.stringify(artifact)).toBe(201);
        expect(artifact).toMatchObject({ artifact_hash: hash, signed: true, production: true, created_by: 'admin' });
        expect(first.headers.get('location')).toBe(`/artifacts/${artifact.id}`);
        const again = await send(file, { more: { production: 'true' } });
        expect([again.status, await again.json()]).toEqual([200, artifact]);
        const back = await server.ask(`/artifacts/${artifact.id}/download`);
        expect(Buffer.from(await back.arrayBuffer()).equals(file)).toBe(true);
        const compiledThere = await compiled(
          server,
          `/specs/${await uploadSpec(server, 'made.yaml', text.toString(), projectId)}`,
        );
        expect(compiledThere).toMatchObject({ artifact_hash: hash });
        expect(compiledThere.artifact_id).not.toBe(artifact.id);
        const [entry] = await server
          .get<{ action: string; resource_id: string }[]>('/audit?limit=200')
          .then((entries) => entries.filter(({ action }) => action === 'artifacts.import'));
        expect(entry).toMatchObject({ resource_id: artifact.id });
        const deployed = await server.ask(`/projects/${projectId}/deploy`, {
          method: 'POST',
          json: { artifact_id: artifact.id },
        });
        expect(deployed.status).toBe(202);
      });

      it('are refused where a gateway would refuse them: 422', async () => {
        const changed = Buffer.from(await gunzip(file));
        // In the middle of a file of it.
        const at = changed.indexOf('Made');
        changed.write('Fake', at);
        for (const [bytes, why] of [
          [await gzip(changed), /integrity/],
          [file.subarray(0, file.length >> 1), /gateway/],
          [Buffer.from('nothing of the kind'), /gateway/],
        ] as const) {
          const response = await send(bytes);
          const problem = await response.json();
          expect([response.status, problem]).toEqual([
            422,
            expect.objectContaining({ type: 'urn:gw:error:artifact-invalid', detail: expect.stringMatching(why) }),
          ]);
        }
      });

      it('are for admins: their modules are in no registry', async () => {
        const tokenOf = async (role: string, project_id: string | null) => {
          const json = { name: crypto.randomUUID(), role, project_id };
          return (await server.get<{ token: string }>('/tokens', { method: 'POST', json })).token;
        };
        const status = async (init: SendInit) => {
          const response = await send(file, init);
          await response.body?.cancel();
          return response.status;
        };
        const other = await createProject(server);
        expect(await status({ token: await tokenOf('deployer', null) })).toBe(403);
        expect(await status({ token: await tokenOf('admin', projectId) })).toBe(201);
        expect(await status({ token: await tokenOf('admin', projectId), project: other })).toBe(404);
        expect(await status({ project: NOWHERE })).toBe(404);
        expect(await status({ more: { production: 'perhaps' } })).toBe(400);
      });
    });

    it('are deleted unless they were deployed', async () => {
      const spec = await uploadSpec(server, 'gone.yaml', specOf(3), projectId);
      const done = await compiled(server, `/specs/${spec}`);
      const remove = async (which = '') => (await server.ask(`/artifacts/${which}`, { method: 'DELETE' })).status;
      expect([await remove(done.artifact_id), await remove(done.artifact_id)]).toEqual([204, 404]);
      expect((await server.ask(`/artifacts/${done.artifact_id}/download`)).status).toBe(404);
      const after = await server.get(`/compilations/${done.id}`);
      expect(after).not.toHaveProperty('artifact_id');
      expect(after).not.toHaveProperty('artifact_hash');
      await server.get(`/projects/${projectId}/deploy`, { method: 'POST', json: { artifact_id: id } });
      expect(await remove(id)).toBe(409);
      const rebuilt = await compiled(server, `/specs/${spec}`);
      expect(rebuilt).toMatchObject({ status: 'succeeded', artifact_hash: done.artifact_hash });
    });
  });
});
