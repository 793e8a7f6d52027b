/** Specs with their revisions (docs/reference/control-plane.md#specs). */

import { KeyedMutex } from '@gw/gateway/keyed-mutex';
import type { Actor } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import type { BlobInfo } from '../../db/blobs.ts';
import { violatedConstraint } from '../../db/violations.ts';
import { ControlError } from '../../errors.ts';
import { type Expected, mustMatch } from '../../http/etag.ts';
import { mapPage, type Page, type PageRequest } from '../../http/pagination.ts';
import { findProject } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { listOperations } from './operations-store.ts';
import { patchSpec, readSpec } from './read-spec.ts';
import { named, present, presentOperation, presentRevision, recorded, resourceOf } from './record.ts';
import { redactOperations } from './redact-operations.ts';
import { revise } from './revise.ts';
import type { OperationsPatch, Spec, SpecOperation, SpecQuery, SpecRevision, SpecUpload } from './schemas.ts';
import { specName } from './spec-name.ts';
import {
  compilationsUnderWay,
  deleteSpec,
  findRevision,
  findSpec,
  listRevisions,
  listSpecs,
  lockSpec,
  type RevisionRow,
  type SpecRow,
} from './store.ts';

/**
 * How often a patch is made anew because an upload, or a patch on another replica, came first: of those on one replica
 * one is made at a time, so that each try that fails is a change that others made.
 */
const MAX_TRIES = 50;
/** Bytes of an upload. */
export const MAX_SPEC_BYTES = 32 << 20;

export interface SpecInput {
  /**
   * As it was uploaded, such as `books.yaml`; it gives a document its extension (docs/decisions.md#spec-name-rules).
   */
  readonly filename: string;
  /** YAML or JSON, or a .tar or .tar.gz; or what `storeFile` made of it. */
  readonly file: AsyncIterable<Uint8Array> | BlobInfo;
  /** Of the spec. Default: the base name of the file. */
  readonly name?: string | undefined;
  /** Which file of an archive is the document. Default: the only one. */
  readonly entry?: string | undefined;
}

/** A spec with the version that its ETag names. */
export interface VersionedSpec {
  readonly spec: Spec;
  readonly version: number;
}

export interface UploadedSpec {
  readonly upload: SpecUpload;
  /** As the ETag names it. */
  readonly version: number;
  /** False where the latest revision equals the upload. */
  readonly isNew: boolean;
}

export class Specs {
  readonly #context: Context;
  readonly #patches = new KeyedMutex();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Throws where the actor may not upload: so that the bytes of strangers are not taken in first. */
  async mayUpload(actor: Actor, projectId: string | null): Promise<void> {
    if (projectId === null) return actor.mustBeGlobal('editor');
    actor.mustBe('editor', projectId, project(projectId));
    if (!(await findProject(this.#context.db.kysely, projectId))) throw ControlError.notFound(project(projectId));
  }

  /** Takes bytes in for an upload to follow; throws BlobTooLarge. */
  storeFile(content: AsyncIterable<Uint8Array>): Promise<BlobInfo> {
    return this.#context.blobs.put(content, MAX_SPEC_BYTES);
  }

  /** A spec of no project, or its next revision. */
  upload(actor: Actor, input: SpecInput, expected: Expected = null): Promise<UploadedSpec> {
    return this.#upload(actor, null, input, expected);
  }

  uploadToProject(actor: Actor, projectId: string, input: SpecInput, expected: Expected = null): Promise<UploadedSpec> {
    return this.#upload(actor, projectId, input, expected);
  }

  async #upload(
    actor: Actor,
    projectId: string | null,
    { file, filename, name: given, entry }: SpecInput,
    expected: Expected,
  ): Promise<UploadedSpec> {
    await this.mayUpload(actor, projectId);
    const name = specName(filename, given);
    const blob = 'sha256' in file ? file : await this.storeFile(file);
    if (blob.size === 0) throw new ControlError('bad-request', `the file "${filename}" is empty`);
    const reading = await readSpec(this.#context.blobs, {
      sha256: blob.sha256,
      owner: projectId ?? '',
      filename,
      name,
      entry,
    });
    const action = projectId === null ? 'specs.upload' : 'specs.uploadToProject';
    const { spec, isNew } = await this.#changing(projectId, (db) =>
      revise(db, actor, { projectId, name, filename, blob, reading, action }, expected),
    );
    return { upload: uploaded(spec), version: spec.version, isNew };
  }

  /** All that the actor may see. */
  async list(actor: Actor, query: SpecQuery = {}): Promise<Page<Spec>> {
    actor.mustHave('viewer');
    return mapPage(await listSpecs(this.#context.db.kysely, actor.projectId ?? undefined, query), present);
  }

  async listOfProject(actor: Actor, projectId: string, query: SpecQuery = {}): Promise<Page<Spec>> {
    actor.mustBe('viewer', projectId, project(projectId));
    const { kysely } = this.#context.db;
    if (!(await findProject(kysely, projectId))) throw ControlError.notFound(project(projectId));
    return mapPage(await listSpecs(kysely, projectId, query), present);
  }

  async get(actor: Actor, id: string): Promise<VersionedSpec> {
    const row = await this.#visible(actor, id);
    return { spec: present(row), version: row.version };
  }

  /** With its revisions and compilations. Throws a conflict while a compilation is still to read it. */
  async delete(actor: Actor, id: string, expected: Expected = null): Promise<void> {
    await this.#context.db.kysely.transaction().execute(async (db) => {
      const before = await lockSpec(db, id);
      if (!before) throw ControlError.notFound(named(id));
      actor.mustBe('editor', before.project_id, named(id));
      mustMatch(expected, before.version, named(id));
      const waiting = await compilationsUnderWay(db, id);
      if (waiting > 0) {
        const detail = `${named(id)} is being compiled (${waiting} compilations): wait until they end, or delete them`;
        throw new ControlError('conflict', detail);
      }
      await deleteSpec(db, id);
      await recordChange(db, actor, {
        action: 'specs.delete',
        resource: resourceOf(before),
        before: recorded(before),
      });
    });
  }

  /** Latest first. */
  async history(actor: Actor, id: string, at: PageRequest = {}): Promise<Page<SpecRevision>> {
    await this.#visible(actor, id);
    return mapPage(await listRevisions(this.#context.db.kysely, id, at), presentRevision);
  }

  /**
   * What was uploaded; its bytes are the blob of its sha256. Default: the latest revision. For editors: plugin configs
   * may stand anywhere in it.
   */
  async content(actor: Actor, id: string, revision?: number): Promise<RevisionRow> {
    const spec = await this.#visible(actor, id);
    actor.mustHave('editor');
    const wanted = revision ?? spec.revision;
    const row = await findRevision(this.#context.db.kysely, id, wanted);
    if (!row) throw ControlError.notFound(`revision ${wanted} of ${named(id)}`);
    return row;
  }

  /** Of the latest revision, by path and method. */
  async operations(actor: Actor, id: string, at: PageRequest = {}): Promise<Page<SpecOperation>> {
    await this.#visible(actor, id);
    return this.#operations(actor, { specId: id }, at);
  }

  /** Of the latest revisions of all its specs. */
  async operationsOfProject(actor: Actor, projectId: string, at: PageRequest = {}): Promise<Page<SpecOperation>> {
    actor.mustBe('viewer', projectId, project(projectId));
    const { kysely } = this.#context.db;
    if (!(await findProject(kysely, projectId))) throw ControlError.notFound(project(projectId));
    return this.#operations(actor, { projectId }, at);
  }

  async #operations(
    actor: Actor,
    of: Parameters<typeof listOperations>[1],
    at: PageRequest,
  ): Promise<Page<SpecOperation>> {
    const { kysely } = this.#context.db;
    const page = mapPage(await listOperations(kysely, of, at), presentOperation);
    return actor.role === 'viewer' ? { ...page, items: await redactOperations(kysely, page.items) } : page;
  }

  /**
   * Changes the plugin bindings of operations, in a new revision (docs/reference/control-plane.md#spec-operations).
   * Throws 422 where there is no such operation, or the document cannot be edited at that place. A patch that changes
   * nothing makes no revision. Of those that come at once each is made on what the others left: none is lost, and none
   * without an expectation meets a 412.
   */
  async updateOperations(
    actor: Actor,
    id: string,
    patch: OperationsPatch,
    expected: Expected = null,
  ): Promise<UploadedSpec> {
    await this.#visible(actor, id);
    actor.mustHave('editor');
    return this.#patches.run(id, async () => {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const spec = await this.#visible(actor, id);
        mustMatch(expected, spec.version, named(id));
        try {
          return await this.#patch(actor, spec, patch);
        } catch (error) {
          const isOvertaken = error instanceof ControlError && error.problem === 'precondition-failed';
          if (!isOvertaken) throw error;
        }
      }
      throw new ControlError(
        'unavailable',
        `${named(id)} is being changed too often at the moment: send the patch again`,
      );
    });
  }

  /** Throws precondition-failed where the spec was revised meanwhile. */
  async #patch(actor: Actor, before: SpecRow, patch: OperationsPatch): Promise<UploadedSpec> {
    const { blobs, db } = this.#context;
    const { project_id: projectId, name, version } = before;
    const latest = await findRevision(db.kysely, before.id, before.revision);
    if (!latest) throw ControlError.notFound(named(before.id));
    const { sha256, filename, form, entry } = latest;
    const patched = await patchSpec(blobs, { sha256, owner: projectId ?? '', filename, name, form, entry, patch });
    if (!patched) return { upload: uploaded(before), version, isNew: false };
    const { bytes, reading } = patched;
    const blob = await blobs.put(once(bytes), bytes.length);
    const action = 'specs.updateOperations';
    const { spec, isNew } = await db.kysely
      .transaction()
      .execute((tx) => revise(tx, actor, { projectId, name, filename, blob, reading, action }, [String(version)]));
    return { upload: uploaded(spec), version: spec.version, isNew };
  }

  async #visible(actor: Actor, id: string): Promise<SpecRow> {
    const row = await findSpec(this.#context.db.kysely, id);
    if (!row) throw ControlError.notFound(named(id));
    actor.mustBe('viewer', row.project_id, named(id));
    return row;
  }

  async #changing<T>(projectId: string | null, change: (db: Parameters<typeof findSpec>[0]) => Promise<T>): Promise<T> {
    try {
      return await this.#context.db.kysely.transaction().execute(change);
    } catch (error) {
      // Deleted since it was looked for.
      if (violatedConstraint(error) !== 'specs_project_id_fkey' || projectId === null) throw error;
      throw ControlError.notFound(project(projectId));
    }
  }
}

const project = (id: string): string => `project "${id}"`;

function uploaded({ id, name, revision, sha256 }: SpecRow): SpecUpload {
  return { id, name, revision, sha256 };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
