/** `kill -9` of a replica in the middle of an upload: nothing half-written is seen, and nothing is left behind. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHUNK_BYTES } from '../../control/src/db/blobs.ts';
import { type Database, openDatabase } from '../../control/src/db/database.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { jsonOf } from '../serve/gateway.ts';
import { emptyDatabase, NO_SERVER } from './database.ts';
import { until } from './fleet.ts';
import { countOf, NO_ORPHANS, orphansAfterSweep } from './orphans.ts';
import { type ControlServer, startControl } from './server.ts';
import { halfUpload, type UploadForm, wholeForm } from './slow-upload.ts';

const MIB = 1 << 20;

/** Of exactly so many bytes. */
function specOfBytes(bytes: number): Uint8Array {
  const text = (description: string) =>
    JSON.stringify({ openapi: '3.1.0', info: { title: 'Large', version: '1', description }, paths: {} });
  return Buffer.from(text('x'.repeat(bytes - text('').length)));
}

/** A module that loads, and has so many bytes: the rest is a custom section, which says nothing. */
function pluginOfBytes(bytes: number): Uint8Array {
  const { wasm } = loadBuiltinPlugin('redirect');
  const size = bytes - wasm.length - 1 - 4;
  // LEB128 in four bytes; then a name of no characters.
  const head = [0, (size & 0x7f) | 0x80, ((size >> 7) & 0x7f) | 0x80, ((size >> 14) & 0x7f) | 0x80, size >> 21, 0];
  return Buffer.concat([wasm, Buffer.from(head), Buffer.alloc(size - 1, 'x')]);
}

const largeSpec = (): UploadForm => ({ filename: 'large.json', bytes: specOfBytes(32 * MIB) });
const largePlugin = (): UploadForm => ({
  filename: 'large.wasm',
  bytes: pluginOfBytes(8 * MIB),
  fields: { name: 'large', version: '1.0.0', type: 'dispatcher', description: 'Large.' },
});

/** `stored`: its bytes go to the database as they come; a plugin's do when it has loaded. */
const UPLOADS = [
  { what: 'a spec of 32 MiB', path: '/specs', list: '/specs', form: largeSpec, stored: true },
  { what: 'a plugin of 8 MiB', path: '/plugins', list: '/plugins/large', form: largePlugin, stored: false },
] as const;

describe.skipIf(NO_SERVER)('kill -9 in the middle of an upload (needs DATABASE_URL)', () => {
  let databaseUrl: string;
  let drop: () => Promise<void>;
  let db: Database;
  let other: ControlServer;
  beforeAll(async () => {
    const database = await emptyDatabase('postgres');
    databaseUrl = database.url;
    drop = database.drop;
    other = await startControl({ databaseUrl });
    db = await openDatabase(databaseUrl);
  });
  afterAll(async () => {
    await other?.stop();
    await db?.close();
    await drop?.();
  });

  /** Answers 200 with none, or 404. */
  const listed = async (path: string): Promise<readonly unknown[]> => {
    const response = await other.ask(path);
    return response.status === 404 ? [] : jsonOf(response);
  };

  it.each(UPLOADS)('of $what', { timeout: 120_000 }, async ({ path, list, form, stored }) => {
    const doomed = await startControl({ databaseUrl, args: ['--admin-bind', 'off'] });
    const upload = form();
    const before = await countOf(db, 'audit_entries');
    const { outcome } = await halfUpload(doomed.url + path, upload);
    const chunks = () => countOf(db, 'blob_chunks', sql`blob_key in (select id::text from blob_uploads)`);
    const sent = Math.floor(upload.bytes.length / 2 / CHUNK_BYTES);
    if (stored) await until(chunks, (n) => n >= sent - 1);
    doomed.signal('SIGKILL');
    expect(await outcome).toMatchObject({ broken: expect.stringMatching(/ECONNRESET|EPIPE|socket hang up/) });

    expect(await listed(list)).toEqual([]);
    expect(await countOf(db, 'audit_entries')).toBe(before);
    expect(await countOf(db, 'blob_uploads')).toBe(stored ? 1 : 0);

    const again = await other.ask(path, { method: 'POST', body: wholeForm(upload) });
    expect([again.status, again.status === 201 ? '' : await again.text()]).toEqual([201, '']);
    expect(await listed(list)).toHaveLength(1);
    expect(await orphansAfterSweep(db)).toEqual(NO_ORPHANS);
    const content = await other.ask(await whereItIs(path));
    expect((await content.arrayBuffer()).byteLength).toBe(upload.bytes.length);
  });

  /** Where the bytes are downloaded from. */
  async function whereItIs(path: string): Promise<string> {
    if (path === '/plugins') return '/plugins/large/1.0.0/download';
    const [spec] = await other.get<readonly { id: string }[]>('/specs');
    return `/specs/${spec?.id}/content`;
  }
});
