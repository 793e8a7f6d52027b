/** A spec's next revision, in one transaction: shared by uploads, patches and new projects. */
import { randomUUIDv7 } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Actor } from '../../access/actor.ts';
import type { BlobInfo } from '../../db/blobs.ts';
import type { Schema } from '../../db/schema.ts';
import { ControlError } from '../../errors.ts';
import { type Expected, mustMatch } from '../../http/etag.ts';
import { lockProject } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { areKept, type BindingRow, bindingsOf, replaceBindings } from './bindings-store.ts';
import type { BindingOutcome } from './bound-document.ts';
import type { ReadSpec } from './read-spec.ts';
import { named, recorded, resourceOf } from './record.ts';
import {
  findRevision,
  findSpec,
  findSpecOfDocument,
  insertRevision,
  insertSpec,
  lockSpecNamed,
  type RevisionRow,
  type SpecRow,
  updateSpec,
} from './store.ts';
import { storableText } from './stored-operations.ts';

/** Maximum length of `info.title` and `info.version`, which lists show. */
const MAX_TITLE = 500;

export interface Revision {
  readonly projectId: string | null;
  readonly name: string;
  readonly filename: string;
  /** The document as uploaded. */
  readonly document: BlobInfo;
  /** The document with its bindings. */
  readonly blob: BlobInfo;
  readonly reading: ReadSpec;
  /** All bindings to store. */
  readonly outcomes: readonly BindingOutcome[];
  /** Bindings from which the outcomes were made. */
  readonly bindings: readonly BindingRow[];
  /** The operation, for the audit log. */
  readonly action: string;
}

/** Others have changed the bindings of the spec since they were read. */
export class BindingsChanged extends Error {}

export interface Revised {
  readonly spec: SpecRow;
  /** False if the latest revision is the same. */
  readonly isNew: boolean;
  /** Note of the previous revision; null for most. */
  readonly note: string | null;
}

/**
 * `db`: a transaction. Others who revise the spec wait, so that each gets a revision of its own. Throws
 * BindingsChanged.
 */
export async function revise(
  db: Kysely<Schema>,
  actor: Actor,
  revision: Revision,
  expected: Expected = null,
): Promise<Revised> {
  const { projectId, name, document, blob, reading, action, outcomes } = revision;
  const described = {
    type: reading.spec.type,
    title: storableText(reading.spec.title, MAX_TITLE),
    api_version: storableText(reading.spec.apiVersion, MAX_TITLE),
  };
  // Uploads to one project take turns, since neither sees collisions with the other.
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
  const kept = before ? await bindingsOf(db, before.id) : [];
  if (!isDeepStrictEqual(kept, revision.bindings)) throw new BindingsChanged();
  const sameBindings = areKept(kept, outcomes);
  let note: string | null = null;
  if (before) {
    mustMatch(expected, before.version, named(before.id));
    const latest = await findRevision(db, before.id, before.revision);
    note = latest?.note ?? null;
    if (!sameBindings) await replaceBindings(db, before.id, kept, outcomes, actor.name);
    // The same bytes are the same revision if they also have the same name in the project.
    const isSame = latest !== undefined && isRevision(latest, revision);
    if (isSame && sameBindings) return { spec: before, isNew: false, note: null };
    if (!isSame && latest?.entry !== reading.entry) await mustNotCollide(db, revision);
    await updateSpec(db, before.id, { ...described, revision: before.revision + (isSame ? 0 : 1) });
    if (isSame) {
      const spec = await found(db, before.id);
      await recordChange(db, actor, {
        action,
        resource: resourceOf(spec),
        before: recorded(before),
        after: recorded(spec),
      });
      return { spec, isNew: false, note: null };
    }
  }
  await insertRevision(db, {
    id: randomUUIDv7(),
    spec_id: before?.id ?? id,
    revision: before ? before.revision + 1 : 1,
    sha256: blob.sha256,
    document_sha256: document.sha256,
    size: blob.size,
    filename: revision.filename,
    form: reading.form,
    entry: reading.entry,
    spec_version: reading.spec.specVersion,
    operations: reading.spec.operations,
    note: null,
    created_by: actor.name,
  });
  const spec = await found(db, before?.id ?? id);
  const change = { action, resource: resourceOf(spec), before: before ? recorded(before) : null };
  await recordChange(db, actor, { ...change, after: recorded(spec) });
  return { spec, isNew: true, note };
}

/** Reports whether the upload is the last revision: as it was uploaded, or as it is downloaded, with its bindings. */
function isRevision(latest: RevisionRow, { document, blob, reading }: Revision): boolean {
  const isSame = latest.sha256 === blob.sha256 && latest.entry === reading.entry;
  return isSame && [latest.sha256, latest.document_sha256].includes(document.sha256);
}

async function found(db: Kysely<Schema>, id: string): Promise<SpecRow> {
  const spec = await findSpec(db, id);
  if (!spec) throw new Error('the spec is gone within its own transaction');
  return spec;
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
