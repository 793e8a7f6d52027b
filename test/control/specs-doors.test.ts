/**
 * A spec that is uploaded compiles to what `gw compile` makes of the same file (docs/decisions.md#one-project,
 * docs/decisions.md#reproducible-hash): documents, archives, started projects.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { asyncTemplateSpec, templateSpec } from '@gw/gateway/starter';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Actor } from '../../control/src/access/actor.ts';
import { openControlPlane } from '../../control/src/control-plane.ts';
import { compiled, createProject, hashByCommandLine } from './compiling.ts';
import { unopenedDatabase } from './database.ts';
import { type ControlServer, startControl } from './server.ts';

const MANIFEST = 'specs: specs\nplugins:\n  mock: {}\n  http-upstream: {}\n';
const PATHS = { '/a': { get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': { name: 'mock' } } } };

describe('a spec that is uploaded', () => {
  let server: ControlServer;
  let dir = '';
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-doors-'));
    server = await startControl({ args: ['--admin-bind', 'off'] });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  function byCommandLine(files: Readonly<Record<string, string>>, manifest = MANIFEST): Promise<string> {
    const project = mkdtempSync(join(dir, 'project-'));
    for (const [name, text] of Object.entries(files)) {
      const path = join(project, 'specs', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    writeFileSync(join(project, 'gw.yaml'), manifest);
    return hashByCommandLine(join(project, 'gw.yaml'));
  }

  async function byUpload(
    filename: string,
    content: string | Uint8Array<ArrayBuffer>,
    name?: string,
  ): Promise<string | undefined> {
    const body = new FormData();
    if (name !== undefined) body.append('name', name);
    body.append('file', new Blob([content]), filename);
    const { id } = await server.get<{ id: string }>('/specs', { method: 'POST', body });
    return (await compiled(server, `/specs/${id}`)).artifact_hash;
  }

  it.each([
    ['openapi', templateSpec('basic', 'books'), 'books.yaml'],
    [
      'openapi in JSON',
      JSON.stringify({ openapi: '3.0.3', info: { title: 'x', version: '1' }, paths: PATHS }),
      'x.json',
    ],
    ['asyncapi', asyncTemplateSpec('orders'), 'orders.v1.yml'],
  ])('has the artifact_hash of gw compile: %s', async (_what, text, name) => {
    expect(await byUpload(name, text)).toBe(await byCommandLine({ [name]: text }));
  });

  it.each(['openapi.yaml', 'spec.yaml', 'books (1).yaml'])(
    'has it by its own name, whatever file it came in: %s',
    async (file) => {
      const text = templateSpec('basic', 'named');
      expect(await byUpload(file, text, 'named')).toBe(await byCommandLine({ 'named.yaml': text }));
      const json = JSON.stringify({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: PATHS });
      expect(await byUpload(file.replace('yaml', 'JSON'), json, 'in-json')).toBe(
        await byCommandLine({ 'in-json.JSON': json }),
      );
    },
  );

  it('compiles beside others of its project that came in files of the same name', async () => {
    const projectId = await createProject(server);
    const [plugin] = await server.get<{ version: string }[]>('/plugins/mock');
    const json = { plugin_name: 'mock', plugin_version: plugin?.version };
    await server.get(`/projects/${projectId}/plugins`, { method: 'POST', json });
    const specs: Record<string, string> = {};
    for (const name of ['books', 'authors']) {
      const text = templateSpec('minimal', name).replace('/health', `/${name}`);
      specs[`${name}.yaml`] = text;
      const body = new FormData();
      body.append('name', name);
      body.append('file', new Blob([text]), 'spec.yaml');
      await server.get(`/projects/${projectId}/specs`, { method: 'POST', body });
    }
    const compilation = await compiled(server, `/projects/${projectId}`);
    expect(compilation).toMatchObject({ status: 'succeeded' });
    expect(compilation.artifact_hash).toBe(await byCommandLine(specs, 'specs: specs\nplugins: { mock: {} }\n'));
  });

  it('has it as an archive, however that names its folder', async () => {
    const files = {
      'books.yaml': 'openapi: 3.1.0\ninfo: { title: x, version: "1" }\npaths:\n  /a/{id}: { $ref: "parts/a.yaml" }\n',
      'parts/a.yaml': 'get:\n  parameters: [{ $ref: id.json }]\n  x-gw-dispatch: { name: mock }\n',
      'parts/id.json': '{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }',
      'unused.yaml': 'a: 1\n',
    };
    const archive = async (prefix: string) => {
      const tar = pack();
      for (const [name, text] of Object.entries(files)) tar.entry({ name: prefix + name }, text);
      tar.finalize();
      const chunks: Uint8Array[] = [];
      for await (const chunk of tar) if (chunk instanceof Uint8Array) chunks.push(chunk);
      return Uint8Array.from(Buffer.concat(chunks));
    };
    const hashes = [
      await byUpload('flat.tar', await archive('')),
      await byUpload('deep.tar', await archive('./api/v1/')),
    ];
    // As a spec of its own it would be one that says nothing.
    const { 'unused.yaml': _, ...used } = files;
    const expected = await byCommandLine(used);
    expect(hashes).toEqual([expected, expected]);
  });

  it.each([
    ['openapi', templateSpec('basic', 'started-openapi')],
    ['asyncapi', asyncTemplateSpec('started-asyncapi')],
  ])('comes with a project that is started, and compiles at once: %s', async (type, text) => {
    const json = { name: `started-${type}`, type };
    const made = await server.ask('/init', { method: 'POST', json });
    const { project, spec }: { project: { id: string }; spec: { id: string } } = JSON.parse(await made.text());
    expect([made.status, made.headers.get('location')]).toEqual([201, `/projects/${project.id}`]);
    const plugins = await server.get<{ plugin_name: string }[]>(`/projects/${project.id}/plugins`);
    expect(plugins.map(({ plugin_name }) => plugin_name)).toEqual(['http-upstream', 'mock']);
    const compilation = await compiled(server, `/projects/${project.id}`);
    expect(compilation).toMatchObject({ status: 'succeeded', specs: [{ spec_id: spec.id, revision: 1 }] });
    expect(compilation.artifact_hash).toBe(await byCommandLine({ 'api.yaml': text }));
    expect((await server.ask('/init', { method: 'POST', json })).status).toBe(409);
  });

  it('is not started without the plugins that it needs, and then nothing is', async () => {
    const { url: databaseUrl, drop } = await unopenedDatabase();
    onTestFinished(drop);
    const control = await openControlPlane({ databaseUrl });
    try {
      await control.context.db.kysely.deleteFrom('plugins').where('name', '=', 'mock').execute();
      const admin = new Actor({ name: 'admin', role: 'admin' });
      await expect(control.projects.init(admin, { name: 'shop' })).rejects.toThrow('run gw-control seed-plugins');
      expect((await control.projects.list(admin)).items).toEqual([]);
    } finally {
      await control.close();
    }
  });
});
