/** What a PostgreSQL server does to its clients, and several replicas to it. */

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../control/src/db/database.ts';
import { eventually } from '../eventually.ts';
import { cutConnections, DATABASE_URL, emptyDatabase, NO_SERVER, testDatabase } from './database.ts';
import { databaseProcess } from './spawn-database.ts';

describe.skipIf(NO_SERVER)('a PostgreSQL server (needs DATABASE_URL)', () => {
  it('is migrated once by four processes that start at once', async () => {
    const { url, drop } = await emptyDatabase('postgres');
    onTestFinished(drop);
    const processes = Array.from({ length: 4 }, () => databaseProcess(url, 'migrate'));
    const said = await Promise.all(processes.map(({ exited }) => exited));
    expect(said.map(({ code, stderr }) => [code, stderr])).toEqual(Array.from({ length: 4 }, () => [0, '']));
    const applied = said.flatMap(({ lines }) => lines.flatMap((line) => JSON.parse(line)));
    const db = await openDatabase(url);
    onTestFinished(() => db.close());
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db.kysely);
    expect(applied.sort()).toEqual(rows.map(({ name }) => name));
    expect(applied).toContain('0001-tables');
  });

  it('may cut all connections, within a transaction too: queries go on, and listeners learn of the gap', async () => {
    const { url, db, close } = await testDatabase('postgres');
    onTestFinished(close);
    const other = await openDatabase(url);
    onTestFinished(() => other.close());
    const heard: string[] = [];
    db.notifications.listen(
      'deployments',
      (payload) => heard.push(payload),
      () => heard.push('gap'),
    );
    const cut = db.kysely.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      await cutConnections(other);
      // The connection breaks while nothing runs on it.
      await eventually(() => expect(heard).toEqual(['gap']));
      await sql`select 1`.execute(tx);
    });
    await expect(cut).rejects.toThrow();
    await db.ping();
    await db.notifications.notify('deployments', 'after');
    await eventually(() => expect(heard).toEqual(['gap', 'after']));
  });

  it('may be away for a while: queries fail while it is, and work when it is back', async () => {
    const { url, close } = await testDatabase('postgres');
    onTestFinished(close);
    const road = await roadTo(new URL(url));
    onTestFinished(() => road.close());
    const db = await openDatabase(road.url);
    onTestFinished(() => db.close());
    const gap = vi.fn();
    db.notifications.listen('access', vi.fn(), gap);
    await road.cut();
    await expect(db.ping()).rejects.toThrow();
    await sleep(1_000);
    await expect(db.ping()).rejects.toThrow(/ECONNREFUSED/);
    await road.mend();
    await db.ping();
    await eventually(() => expect(gap).toHaveBeenCalledOnce());
  });

  it('that cannot be reached is named without its password', async () => {
    const refused = openDatabase('postgres://ada:secret-word@127.0.0.1:1/gw');
    await expect(refused).rejects.toThrow('cannot reach the database at 127.0.0.1:1: connect ECONNREFUSED');
    await expect(openDatabase('postgres://ada:secret-word@:x/gw')).rejects.not.toThrow('secret-word');
    await expect(openDatabase('mysql://ada:secret-word@db/gw')).rejects.toThrow('neither postgres:// nor pglite://');
    await expect(openDatabase('postgres://db/gw?sslmode=prefer')).rejects.toThrow('use disable, require');
  });

  it('without TLS is refused where the URL asks for it', async () => {
    const url = new URL(DATABASE_URL ?? '');
    url.searchParams.set('sslmode', 'require');
    await expect(openDatabase(url.href)).rejects.toThrow('does not support SSL');
  });
});

/** A TCP road to the server that can be cut and mended. */
async function roadTo({ hostname, port, href }: URL) {
  const sockets = new Set<Socket>();
  const open = (listenPort: number) =>
    new Promise<ReturnType<typeof createServer>>((resolve) => {
      const server = createServer((near) => {
        const far = connect(Number(port || 5432), hostname);
        for (const socket of [near, far]) sockets.add(socket.on('error', () => {}).on('close', () => near.destroy()));
        near.pipe(far).pipe(near);
      }).listen(listenPort, '127.0.0.1', () => resolve(server));
    });
  let server = await open(0);
  const { port: own } = server.address() as AddressInfo;
  const url = new URL(href);
  url.host = `127.0.0.1:${own}`;
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await closed;
  };
  return {
    url: url.href,
    cut,
    mend: async () => {
      server = await open(own);
    },
    close: cut,
  };
}
