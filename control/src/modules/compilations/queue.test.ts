/** The queue of compilations, on both databases. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DATABASE_KINDS, type DatabaseKind, testDatabase } from '../../../../test/control/database.ts';
import { eventually } from '../../../../test/eventually.ts';
import { brokenOff } from './compile-job.ts';
import { claim, end, enter, giveUp, handBack, JobLost, MAX_ATTEMPTS, MAX_DIAGNOSTICS, renew } from './queue.ts';
import { findCompilation, insertCompilation } from './store.ts';

const LEASE_MS = 60_000;
const FAILED = { artifactId: null, diagnostics: [] };

async function queue(kind: DatabaseKind) {
  const { db, close } = await testDatabase(kind);
  onTestFinished(close);
  const { kysely } = db;
  const clock = async () => {
    const { rows } = await sql<{ at: string }>`select clock_timestamp()::text as at`.execute(kysely);
    return rows[0]?.at;
  };
  /** What comes later has a later time, also where the clock of the database counts milliseconds. */
  const clockMoves = async () => {
    const before = await clock();
    await eventually(async () => expect(await clock()).not.toBe(before));
  };
  const job = async (projectId: string | null, createdBy: string) => {
    const id = randomUUID();
    const inputs = { revisions: [], plugins: [], upstreams: {} };
    await insertCompilation(kysely, { id, specId: null, projectId, inputs, production: false, createdBy });
    await clockMoves();
    return id;
  };
  const project = async () => {
    const id = randomUUID();
    await sql`insert into projects (id, name, description, upstreams) values (${id}, ${id}, '', '{}')`.execute(kysely);
    return id;
  };
  const add = () => job(null, 'test');
  const addFor = { job, project };
  const taken = async (replica: string) => {
    const job = await claim(kysely, replica, LEASE_MS);
    if (!job) throw new Error('no job waits');
    await clockMoves();
    return job;
  };
  const passLeases = () => sql`update compilations set claimed_until = now() - interval '1 second'`.execute(kysely);
  return { kysely, add, addFor, taken, passLeases, look: (id: string) => findCompilation(kysely, id) };
}

describe.each(DATABASE_KINDS)('the queue on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('of compilations', () => {
    it('gives each job once, the oldest first, whoever asks at once', async () => {
      const { kysely, add } = await queue(kind);
      const added: string[] = [];
      for (let i = 0; i < 8; i++) added.push(await add());
      const first = await claim(kysely, randomUUID(), LEASE_MS);
      expect(first).toMatchObject({ id: added[0], status: 'compiling', stage: 'reading', attempts: 1 });
      const others = await Promise.all(Array.from({ length: 10 }, () => claim(kysely, randomUUID(), LEASE_MS)));
      const ids = others.flatMap((job) => job?.id ?? []);
      expect(new Set(ids)).toEqual(new Set(added.slice(1)));
      expect(ids.length).toBe(7);
    });

    it('gives projects their turns, and people in a project, however many one of them asks for', async () => {
      const { kysely, addFor, taken } = await queue(kind);
      const [busy, other] = [await addFor.project(), await addFor.project()];
      const flood: string[] = [];
      for (let i = 0; i < 5; i++) flood.push(await addFor.job(busy, 'mallory'));
      const colleague = await addFor.job(busy, 'alice');
      const quiet = [await addFor.job(other, 'bob'), await addFor.job(other, 'bob')];
      const order: string[] = [];
      for (let i = 0; i < 8; i++) {
        const job = await taken(randomUUID());
        order.push(job.id);
        await end(kysely, job, FAILED);
      }
      expect(order.slice(0, 4)).toEqual([flood[0], quiet[0], colleague, quiet[1]]);
      expect(order.slice(4)).toEqual(flood.slice(1));
    });

    it('gives a job to another replica when its lease has passed, and takes nothing more from the first', async () => {
      const { kysely, add, taken, passLeases, look } = await queue(kind);
      const id = await add();
      const first = await taken(randomUUID());
      expect(await claim(kysely, randomUUID(), LEASE_MS)).toBeNull();
      await passLeases();
      await renew(kysely, first, LEASE_MS);
      expect(await claim(kysely, randomUUID(), LEASE_MS)).toBeNull();
      await passLeases();
      const second = await taken(randomUUID());
      expect(second).toMatchObject({ id, attempts: 2, started_at: first.started_at });
      for (const write of [
        () => renew(kysely, first, LEASE_MS),
        () => enter(kysely, first, 'storing'),
        () => end(kysely, first, FAILED),
      ]) {
        await expect(write()).rejects.toThrow(JobLost);
      }
      await handBack(kysely, first);
      expect(await look(id)).toMatchObject({ status: 'compiling', claimed_by: second.claimed_by });
      await end(kysely, second, FAILED);
      expect(await look(id)).toMatchObject({ status: 'failed', stage: null, claimed_by: null });
      await expect(end(kysely, second, FAILED)).rejects.toThrow(JobLost);
    });

    it('does not count an attempt that was handed back', async () => {
      const { kysely, add, taken, look } = await queue(kind);
      const id = await add();
      await handBack(kysely, await taken(randomUUID()));
      expect(await look(id)).toMatchObject({ status: 'pending', attempts: 0, claimed_by: null, stage: null });
      expect(await taken(randomUUID())).toMatchObject({ id, attempts: 1 });
    });

    it(`gives up what ${MAX_ATTEMPTS} replicas did not come to the end of`, async () => {
      const { kysely, add, taken, passLeases, look } = await queue(kind);
      const id = await add();
      for (let i = 1; i <= MAX_ATTEMPTS; i++) {
        expect(await giveUp(kysely, [brokenOff('x')])).toEqual([]);
        await taken(randomUUID());
        await passLeases();
      }
      expect(await claim(kysely, randomUUID(), LEASE_MS)).toBeNull();
      expect(await giveUp(kysely, [brokenOff('it broke off')])).toMatchObject([{ id, status: 'failed' }]);
      expect(await look(id)).toMatchObject({
        status: 'failed',
        attempts: MAX_ATTEMPTS,
        diagnostics: [{ code: 'E1009', severity: 'error', message: 'it broke off' }],
      });
    });

    it('keeps of diagnostics what a database can, errors first', async () => {
      const { kysely, add, taken, look } = await queue(kind);
      const id = await add();
      const warning = { code: 'E1020', severity: 'warning', message: 'x', hint: 'y' } as const;
      const error = { ...warning, severity: 'error', message: 'NUL \0, half \ud800' } as const;
      const diagnostics = [...Array.from({ length: MAX_DIAGNOSTICS }, () => warning), error];
      await end(kysely, await taken(randomUUID()), { artifactId: null, diagnostics });
      const kept = (await look(id))?.diagnostics ?? [];
      expect(kept.length).toBe(MAX_DIAGNOSTICS);
      expect(kept[0]).toEqual({ ...error, message: 'NUL \ufffd, half \ufffd' });
    });
  });
});
