/** A spec's next revision, in one transaction: what an upload, a patch and a new project have in common. */
import { randomUUIDv7 } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Actor } from '../../access/actor.ts';
import type { BlobInfo } from '../../db/blobs.ts';
import type { Schema } from '../../db/schema.ts';
import { ControlError } from '../../errors.ts';
import { type Expected, mustMatch } from '../../http/etag.ts';
import { lockProject } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import type { ReadSpec } from './read-spec.ts';
import { named, recorded, resourceOf } from './record.ts';
import {
  findRevision,
  findSpec,
  findSpecOfDocument,
  insertRevision,
  insertSpec,
  lockSpecNamed,
  type SpecRow,
  updateSpec,
} from './store.ts';
import { storableText } from './stored-operations.ts';

/** Of `info.title` and `info.version`, which lists show. */
const MAX_TITLE = 500;

export interface Revision {
  readonly projectId: string | null;
  readonly name: string;
  readonly filename: string;
  readonly blob: BlobInfo;
  readonly reading: ReadSpec;
  /** The operation, for the audit log. */
  readonly action: string;
}

export interface Revised {
  readonly spec: SpecRow;
  /** False where the latest revision is the same: then nothing was done. */
  readonly isNew: boolean;
}

/** `db`: a transaction. Whoever else revises the spec waits, so that each gets a revision of its own. */
export async function revise(
  db: Kysely<Schema>,
  actor: Actor,
  revision: Revision,
  expected: Expected = null,
): Promise<Revised> {
  const { projectId, name, blob, reading, action } = revision;
  const described = {
    type: reading.spec.type,
    title: storableText(reading.spec.title, MAX_TITLE),
    api_version: storableText(reading.spec.apiVersion, MAX_TITLE),
  };
  // Uploads to one project take turns: what two of them would collide in, neither sees of the other.
  if (projectId !== null) await lockProject(db, projectId);
  let before = await lockSpecNamed(db, projectId, name);
  const id = before?.id ?? randomUUIDv7();
  if (!before) {
    if (expected !== null)
      throw new ControlError('precondition-failed', `there is no spec "${name}" to match If-Match`);
    const isFirst = await insertSpec(db, { id, project_id: projectId, name, ...described });
    if (!isFirst) before = await lockSpecNamed(db, projectId, name);
    else await mustNotCollide(db, revision);
  }
  if (before) {
    mustMatch(expected, before.version, named(before.id));
    const latest = await findRevision(db, before.id, before.revision);
    // The same bytes are the same revision where they are also compiled under the same name.
    const isSame = latest?.sha256 === blob.sha256 && latest.entry === reading.entry;
    if (isSame) return { spec: before, isNew: false };
    if (latest?.entry !== reading.entry) await mustNotCollide(db, revision);
    await updateSpec(db, before.id, { ...described, revision: before.revision + 1 });
  }
  await insertRevision(db, {
    id: randomUUIDv7(),
    spec_id: before?.id ?? id,
    revision: before ? before.revision + 1 : 1,
    sha256: blob.sha256,
    size: blob.size,
    filename: revision.filename,
    form: reading.form,
    entry: reading.entry,
    spec_version: reading.spec.specVersion,
    operations: reading.spec.operations,
    created_by: actor.name,
  });
  const spec = await findSpec(db, before?.id ?? id);
  if (!spec) throw new Error('the spec is gone within its own transaction');
  const change = { action, resource: resourceOf(spec), before: before ? recorded(before) : null };
  await recordChange(db, actor, { ...change, after: recorded(spec) });
  return { spec, isNew: true };
}

/** Documents of one project that share a base name do not compile (E1050, docs/decisions.md#spec-name-rules). */
async function mustNotCollide(db: Kysely<Schema>, { projectId, name, reading }: Revision): Promise<void> {
  if (projectId === null) return;
  const base = reading.entry.slice(reading.entry.lastIndexOf('/') + 1);
  const other = await findSpecOfDocument(db, projectId, base, name);
  if (!other) return;
  const way =
    reading.form === 'document' ? 'give this spec another "name"' : `rename "${reading.entry}" in the archive`;
  throw new ControlError(
    'conflict',
    `the document of spec "${other.name}" is also called "${base}", and two with the same name do not compile in one project: ${way}`,
  );
}
