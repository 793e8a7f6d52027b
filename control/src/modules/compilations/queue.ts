/**
 * Compilations as a queue: any replica takes one, for the time of a lease that it renews while it works. Its writes
 * about a job count only while it owns the job: each write compares `claimed_by` and `attempts`. All times are the
 * database's.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { CompilationsTable, Schema, StoredDiagnostic } from '../../db/schema.ts';
import { readableJson } from '../../db/text.ts';

type Db = Kysely<Schema>;
export type Job = Selectable<CompilationsTable>;
export type Stage = NonNullable<Job['stage']>;
export type Outcome = {
  /** Null: the compilation failed. */
  readonly artifactId: string | null;
  readonly diagnostics: readonly StoredDiagnostic[];
};

/** Attempts after which a job counts as one that kills every replica. */
export const MAX_ATTEMPTS = 3;

/** Diagnostics that are kept of a compilation. */
export const MAX_DIAGNOSTICS = 1_000;

/** Another replica has the job, or it was deleted: it must not be written any more. */
export class JobLost extends Error {}

/**
 * Returns the next job among those that wait or were abandoned by a replica, or null. Projects take turns, those with
 * fewer running jobs first, and within them people do; a person's oldest job is first.
 */
export async function claim(db: Db, replicaId: string, leaseMs: number): Promise<Job | null> {
  const job = await db
    .with('next', (cte) =>
      cte
        .selectFrom('compilations')
        .select('id')
        .where(({ or, and, eb }) =>
          or([eb('status', '=', 'pending'), and([leftLying(), eb('attempts', '<', MAX_ATTEMPTS)])]),
        )
        .orderBy(underWay())
        .orderBy(lastBegun(false))
        .orderBy(lastBegun(true))
        .orderBy('created_at')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .updateTable('compilations')
    .from('next')
    .whereRef('compilations.id', '=', 'next.id')
    .set(({ eb }) => ({
      status: 'compiling',
      stage: 'reading',
      attempts: eb('attempts', '+', 1),
      claimed_by: replicaId,
      claimed_until: fromNow(leaseMs),
      started_at: sql<Date>`coalesce(started_at, now())`,
    }))
    .returningAll('compilations')
    .executeTakeFirst();
  return job ?? null;
}

/** Fails jobs that were begun too often, each time by a replica that did not finish. */
export function giveUp(
  db: Db,
  diagnostics: readonly StoredDiagnostic[],
): Promise<Pick<Job, 'id' | 'project_id' | 'status'>[]> {
  return db
    .updateTable('compilations')
    .set({ ...ended('failed'), diagnostics: kept(diagnostics) })
    .where(leftLying())
    .where('attempts', '>=', MAX_ATTEMPTS)
    .returning(['id', 'project_id', 'status'])
    .execute();
}

/** Throws JobLost. */
export async function renew(db: Db, job: Job, leaseMs: number): Promise<void> {
  mustBeOwn(
    await own(db, job)
      .set({ claimed_until: fromNow(leaseMs) })
      .executeTakeFirst(),
  );
}

/** Throws JobLost. */
export async function enter(db: Db, job: Job, stage: Stage): Promise<void> {
  mustBeOwn(await own(db, job).set({ stage }).executeTakeFirst());
}

/** Throws JobLost. */
export async function end(db: Db, job: Job, { artifactId, diagnostics }: Outcome): Promise<void> {
  mustBeOwn(
    await own(db, job)
      .set({
        ...ended(artifactId === null ? 'failed' : 'succeeded'),
        artifact_id: artifactId,
        diagnostics: kept(diagnostics),
      })
      .executeTakeFirst(),
  );
}

/** Returns a job to the queue for another replica, as if it had not been begun. */
export async function handBack(db: Db, job: Job): Promise<void> {
  await own(db, job)
    .set({ status: 'pending', stage: null, claimed_by: null, claimed_until: null, attempts: job.attempts - 1 })
    .execute();
}

/** Counts the jobs of each status that is not final. */
export function countUnfinished(db: Db): Promise<{ status: Job['status']; number: number }[]> {
  return db
    .selectFrom('compilations')
    .select(({ fn }) => ['status', fn.countAll<number>().as('number')])
    .where('status', 'in', ['pending', 'compiling'])
    .groupBy('status')
    .execute();
}

/** Errors first, and limited in number. */
function kept(diagnostics: readonly StoredDiagnostic[]): string {
  const [errors = [], others = []] = [true, false].map((wanted) =>
    diagnostics.filter(({ severity }) => (severity === 'error') === wanted),
  );
  return readableJson([...errors, ...others].slice(0, MAX_DIAGNOSTICS));
}

const fromNow = (ms: number) => sql<Date>`now() + make_interval(secs => ${ms / 1000})`;

/** Counts running compilations of the same project. */
const underWay = () => sql`(
  select count(*) from compilations other
  where other.project_id = compilations.project_id and other.status = 'compiling' and other.claimed_until >= now()
)`;

/**
 * Returns when the last one of the same project, or of the same person in it, was begun; earliest if there was no
 * other.
 */
const lastBegun = (ofPerson: boolean) => sql`coalesce((
  select other.started_at from compilations other
  where other.project_id = compilations.project_id and other.started_at is not null
    ${ofPerson ? sql`and other.created_by = compilations.created_by` : sql``}
  order by other.created_at desc limit 1
), '-infinity')`;

const leftLying = () => sql<boolean>`(status = 'compiling' and claimed_until < now())`;

const ended = (status: 'succeeded' | 'failed') => ({
  status,
  stage: null,
  claimed_by: null,
  claimed_until: null,
  completed_at: sql<Date>`now()`,
});

function own(db: Db, { id, claimed_by, attempts }: Job) {
  return db
    .updateTable('compilations')
    .where('id', '=', id)
    .where('status', '=', 'compiling')
    .where('claimed_by', '=', claimed_by)
    .where('attempts', '=', attempts);
}

function mustBeOwn({ numUpdatedRows }: { readonly numUpdatedRows: bigint }): void {
  if (numUpdatedRows === 0n) throw new JobLost('the compilation is another replica’s now, or is gone');
}
