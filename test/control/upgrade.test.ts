/** A database that an earlier version made and used: nothing in it is lost, and what it could not do is done. */
import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../control/src/db/database.ts';
import * as first from '../../control/src/db/migrations/0001-tables.ts';
import type { Schema } from '../../control/src/db/schema.ts';
import type { Project } from '../../control/src/modules/projects/schemas.ts';
import type { SpecRevision } from '../../control/src/modules/specs/schemas.ts';
import { retain } from '../../control/src/retention/retention.ts';
import { compiled } from './compiling.ts';
import { DATABASE_KINDS, type DatabaseKind, emptyDatabase } from './database.ts';
import { startControl } from './server.ts';

/** With the tables of the first version, and what `fill` puts there. */
async function databaseOfFirstVersion(
  kind: DatabaseKind,
  fill: (db: Kysely<Schema>) => Promise<void>,
): Promise<string> {
  const { url, drop } = await emptyDatabase(kind);
  onTestFinished(drop);
  const { kysely, close } = await openDatabase(url);
  const { error } = await new Migrator({
    db: kysely,
    provider: { getMigrations: async () => ({ '0001-tables': first }) },
  }).migrateToLatest();
  if (error !== undefined) throw error;
  await fill(kysely);
  await close();
  return url;
}

async function insertSpec(db: Kysely<Schema>, projectId: string, name: string, filename: string): Promise<string> {
  const text = `openapi: 3.1.0\ninfo: { title: ${name}, version: "1" }\npaths: {}\n`;
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await sql`insert into blobs (sha256, size) values (${sha256}, ${bytes.length})`.execute(db);
  await sql`insert into blob_chunks (blob_key, n, bytes) values (${sha256}, 0, ${bytes})`.execute(db);
  const id = crypto.randomUUID();
  await sql`insert into specs (id, project_id, name, type, title, api_version, revision)
    values (${id}, ${projectId}, ${name}, 'openapi', ${name}, '1', 1)`.execute(db);
  await sql`insert into spec_revisions
    (id, spec_id, revision, sha256, size, filename, form, entry, spec_version, operations, created_by)
    values (${crypto.randomUUID()}, ${id}, 1, ${sha256}, ${bytes.length}, ${filename}, 'document', ${filename}, '3.1.0',
      '[]', 'admin')`.execute(db);
  return id;
}

describe.each(DATABASE_KINDS)('a database of the first version on %s', (_name, kind, absent) => {
  it.skipIf(absent)('has documents that came in files of one name: their project compiles now', async () => {
    const projectId = crypto.randomUUID();
    const specs: string[] = [];
    const databaseUrl = await databaseOfFirstVersion(kind, async (db) => {
      await sql`insert into projects (id, name, description, upstreams) values (${projectId}, 'old', '', '{}')`.execute(
        db,
      );
      for (const [name, filename] of [
        ['books', 'spec.YML'],
        ['authors', 'spec.YML'],
        ['events', 'spec'],
      ] as const) {
        specs.push(await insertSpec(db, projectId, name, filename));
      }
    });
    const server = await startControl({ databaseUrl, args: ['--admin-bind', 'off'] });
    onTestFinished(async () => void (await server.stop()));
    const revisions = await Promise.all(specs.map((id) => server.get<SpecRevision[]>(`/specs/${id}/history`)));
    expect(revisions.flat().map(({ filename, entry }) => [filename, entry])).toEqual([
      ['spec.YML', 'books.YML'],
      ['spec.YML', 'authors.YML'],
      ['spec', 'events.yaml'],
    ]);
    expect((await server.get<Project>(`/projects/${projectId}`)).mcp).toEqual({});
    expect(await compiled(server, `/projects/${projectId}`)).toMatchObject({ status: 'succeeded' });
  });

  it.skipIf(absent)('keeps its deployments and artifacts, whose time begins now', async () => {
    const [projectId, artifactId, deploymentId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    const hash = `sha256:${'a'.repeat(64)}`;
    const databaseUrl = await databaseOfFirstVersion(kind, async (db) => {
      await sql`insert into projects (id, name, description, upstreams) values (${projectId}, 'old', '', '{}')`.execute(
        db,
      );
      await sql`insert into blobs (sha256, size) values ('x', 0)`.execute(db);
      await sql`insert into artifacts (id, project_id, artifact_hash, file_sha256, size, manifest, production,
          compiler_version, artifact_version, created_by, created_at)
        values (${artifactId}, ${projectId}, ${hash}, 'x', 0, '{}', false, '0.8.0', 6, 'admin', now() - interval '1 year')`.execute(
        db,
      );
      await sql`insert into deployments (id, project_id, artifact_id, kind, status, target_data_planes, timeout_seconds,
          created_by, expires_at)
        values (${deploymentId}, ${projectId}, ${artifactId}, 'deploy', 'succeeded', 0, 60, 'admin', now())`.execute(
        db,
      );
    });
    const db = await openDatabase(databaseUrl);
    await db.migrate();
    expect(await retain(db, {})).toEqual({ artifacts: 0, compilations: 0 });
    await db.close();
    const server = await startControl({ databaseUrl, args: ['--admin-bind', 'off'] });
    onTestFinished(async () => void (await server.stop()));
    expect(await server.get(`/projects/${projectId}/deployments`)).toMatchObject([
      { deployment_id: deploymentId, artifact_id: artifactId, artifact_hash: hash, previous_artifact_id: null },
    ]);
  });

  it.skipIf(absent)('has patched revisions, which count as the document, and say so', async () => {
    const projectId = crypto.randomUUID();
    let id = '';
    const databaseUrl = await databaseOfFirstVersion(kind, async (db) => {
      await sql`insert into projects (id, name, description, upstreams) values (${projectId}, 'old', '', '{}')`.execute(
        db,
      );
      id = await insertSpec(db, projectId, 'patched', 'patched.yaml');
      await sql`insert into audit_entries (id, actor, action, resource_type, resource_id, after)
        values (${crypto.randomUUID()}, 'admin', 'specs.updateOperations', 'spec', ${id}, '{"revision": 1}')`.execute(
        db,
      );
    });
    const server = await startControl({ databaseUrl, args: ['--admin-bind', 'off'] });
    onTestFinished(async () => void (await server.stop()));
    const [revision] = await server.get<SpecRevision[]>(`/specs/${id}/history`);
    expect(revision?.note).toContain('before bindings were stored separately');
    expect(revision?.document_sha256).toBe(revision?.sha256);
    const body = new FormData();
    body.append('file', new Blob(['openapi: 3.1.0\ninfo: { title: x, version: "2" }\npaths: {}\n']), 'patched.yaml');
    const path = `/projects/${projectId}/specs`;
    expect(await server.get(path, { method: 'POST', body })).toMatchObject({ revision: 2, note: revision?.note });
    expect(await server.get(`/specs/${id}/history`)).toMatchObject([{ revision: 2 }, { note: revision?.note }]);
  });
});
