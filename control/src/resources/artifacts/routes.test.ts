/** Artifacts over REST, on both databases. */
import { createHash } from 'node:crypto';
import { readArtifact } from '@gw/gateway/artifact';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiled, createProject, specOf, uploadSpec } from '../../../../test/control/compiling.ts';
import { DATABASE_KINDS, emptyDatabase } from '../../../../test/control/database.ts';
import { type AskInit, type ControlServer, startControl } from '../../../../test/control/server.ts';
import { CHUNK_BYTES } from '../../db/blobs.ts';
import type { Artifact, ArtifactDetail } from './schemas.ts';

const NOWHERE = '00000000-0000-4000-8000-000000000000';

describe.each(DATABASE_KINDS)('artifacts on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('over REST', () => {
    let database: Awaited<ReturnType<typeof emptyDatabase>>;
    let server: ControlServer;
    /** One of a project, larger than one row of its bytes. */
    let projectId: string;
    let specId: string;
    let id: string;
    let bytes: Buffer;
    beforeAll(async () => {
      database = await emptyDatabase(kind);
      server = await startControl({ databaseUrl: database.url, args: ['--admin-bind', 'off'] });
      projectId = await createProject(server, { name: 'shop' });
      await addMock();
      // What is random does not compress.
      const noise = Array.from({ length: 16_000 }, () => crypto.randomUUID()).join('');
      specId = await uploadSpec(server, 'shop.yaml', specOf(2, `x-noise: ${noise}\n`), projectId);
      id = (await compiled(server, `/specs/${specId}`)).artifact_id ?? '';
      bytes = Buffer.from(await (await server.ask(`/artifacts/${id}/download`)).arrayBuffer());
    }, 60_000);
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

    it('are open to data planes of their project, for the download alone (D33)', async () => {
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
