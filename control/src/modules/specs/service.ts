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
import type { Binding } from './bindings.ts';
import { bindingsOf, listBindings } from './bindings-store.ts';
import type { BindingOutcome } from './bound-document.ts';
import { mustBeDecided } from './decide-bindings.ts';
import { listOperations } from './operations-store.ts';
import { patchSpec, readSpec } from './read-spec.ts';
import {
  named,
  present,
  presentBinding,
  presentOperation,
  presentOutcome,
  presentRevision,
  recorded,
  resourceOf,
} from './record.ts';
import { redactChains } from './redact-chains.ts';
import { BindingsChanged, revise } from './revise.ts';
import type {
  BindingDecision,
  OperationsPatch,
  RevisionQuery,
  Spec,
  SpecBinding,
  SpecOperation,
  SpecQuery,
  SpecRevision,
  SpecUpload,
} from './schemas.ts';
import { specName } from './spec-name.ts';
import {
  compilationsUnderWay,
  deleteSpec,
  findRevision,
  findSpec,
  findSpecNamed,
  listRevisions,
  listSpecs,
  lockSpec,
  type RevisionRow,
  type SpecRow,
} from './store.ts';

/**
 * Number of attempts at a patch if uploads, or patches on other replicas, come first: a replica makes one patch at a
 * time, so that each failed attempt is a change by others.
 */
const MAX_TRIES = 50;
/** Bytes of an upload. */
const MAX_SPEC_BYTES = 32 << 20;

export interface SpecInput {
  /**
   * File name as uploaded, such as `books.yaml`; its extension becomes that of the document
   * (docs/decisions.md#spec-name-rules).
   */
  readonly filename: string;
  /** YAML or JSON, or a .tar or .tar.gz; or the result of `storeFile`. */
  readonly file: AsyncIterable<Uint8Array> | BlobInfo;
  /** Name of the spec. Default: the base name of the file. */
  readonly name?: string | undefined;
  /** Which file of an archive is the document. Default: the only one. */
  readonly entry?: string | undefined;
  /** How to treat bindings whose operation is changed or lost. Default: the upload is refused. */
  readonly bindings?: BindingDecision | undefined;
}

/** A spec with the version that its ETag names. */
export interface VersionedSpec {
  readonly spec: Spec;
  readonly version: number;
}

export interface UploadedSpec {
  readonly upload: SpecUpload;
  /** The version in the ETag. */
  readonly version: number;
  /** False if the latest revision equals the upload. */
  readonly isNew: boolean;
}

export class Specs {
  readonly #context: Context;
  readonly #patches = new KeyedMutex();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Throws if the actor may not upload, before the bytes are read. */
  async mayUpload(actor: Actor, projectId: string | null): Promise<void> {
    if (projectId === null) return actor.mustBeGlobal('editor');
    actor.mustBe('editor', projectId, project(projectId));
    if (!(await findProject(this.#context.db.kysely, projectId))) throw ControlError.notFound(project(projectId));
  }

  /** Takes bytes in for an upload to follow; throws BlobTooLarge. */
  storeFile(content: AsyncIterable<Uint8Array>): Promise<BlobInfo> {
    return this.#context.blobs.put(content, MAX_SPEC_BYTES);
  }

  /** Creates a spec outside projects, or its next revision. */
  upload(actor: Actor, input: SpecInput, expected: Expected = null): Promise<UploadedSpec> {
    return this.#upload(actor, null, input, expected);
  }

  uploadToProject(actor: Actor, projectId: string, input: SpecInput, expected: Expected = null): Promise<UploadedSpec> {
    return this.#upload(actor, projectId, input, expected);
  }

  async #upload(
    actor: Actor,
    projectId: string | null,
    { file, filename, name: given, entry, bindings: decision }: SpecInput,
    expected: Expected,
  ): Promise<UploadedSpec> {
    await this.mayUpload(actor, projectId);
    const name = specName(filename, given);
    const document = 'sha256' in file ? file : await this.storeFile(file);
    if (document.size === 0) throw new ControlError('bad-request', `the file "${filename}" is empty`);
    const action = projectId === null ? 'specs.upload' : 'specs.uploadToProject';
    return this.#untilUnchanged(`spec "${name}"`, async () => {
      const { kysely } = this.#context.db;
      const known = await findSpecNamed(kysely, projectId, name);
      const kept = known ? await bindingsOf(kysely, known.id) : [];
      const bindings = kept.map(({ binding }) => binding);
      const stored = { sha256: document.sha256, owner: projectId ?? '' };
      const discard = decision === 'discard';
      const read = { ...stored, filename, name, entry, bindings, discard };
      const { bytes, reading, outcomes, discarded } = await readSpec(this.#context.blobs, read);
      mustBeDecided(outcomes, decision);
      const blob = bytes ? await this.#storeBytes(bytes) : document;
      const revision = { projectId, name, filename, document, blob, reading, action };
      const { spec, isNew, note } = await this.#changing(projectId, (db) =>
        revise(db, actor, { ...revision, outcomes, bindings: kept }, expected),
      );
      return { upload: uploaded(spec, [...outcomes, ...discarded.map(gone)], note), version: spec.version, isNew };
    });
  }

  /** Repeats reading and writing if another write came between. */
  async #untilUnchanged<T>(what: string, attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof BindingsChanged)) throw error;
      }
    }
    throw new ControlError('unavailable', `${what} is being changed too often at the moment: send the request again`);
  }

  async #blob(sha256: string): Promise<BlobInfo> {
    const info = await this.#context.blobs.info(sha256);
    if (!info) throw new Error(`the blob ${sha256} is gone, though a revision refers to it`);
    return info;
  }

  #storeBytes(bytes: Uint8Array): Promise<BlobInfo> {
    return this.#context.blobs.put(once(bytes), bytes.length);
  }

  /** Lists all specs that the actor may see. */
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

  /** Deletes the spec with its revisions and compilations. Throws a conflict while a compilation still needs it. */
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

  /** Lists revisions, latest first. */
  async history(actor: Actor, id: string, at: PageRequest = {}): Promise<Page<SpecRevision>> {
    await this.#visible(actor, id);
    return mapPage(await listRevisions(this.#context.db.kysely, id, at), presentRevision);
  }

  /**
   * Returns a revision; its bytes are the blob of its sha256. Default: the latest, with its bindings. For editors: any
   * part of it may contain plugin configs.
   */
  async content(actor: Actor, id: string, { revision, bindings = 'with' }: RevisionQuery = {}): Promise<RevisionRow> {
    const { kysely } = this.#context.db;
    const spec = await this.#visible(actor, id);
    actor.mustHave('editor');
    const wanted = revision ?? spec.revision;
    const row = await findRevision(kysely, id, wanted);
    if (!row) throw ControlError.notFound(`revision ${wanted} of ${named(id)}`);
    if (bindings === 'with' || row.sha256 === row.document_sha256) return row;
    return { ...row, ...(await this.#blob(row.document_sha256)) };
  }

  /** Lists operations of the latest revision, by path and method. */
  async operations(actor: Actor, id: string, at: PageRequest = {}): Promise<Page<SpecOperation>> {
    await this.#visible(actor, id);
    return this.#operations(actor, { specId: id }, at);
  }

  /** Lists operations of the latest revisions of all its specs. */
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
    return actor.role === 'viewer' ? { ...page, items: await redactChains(kysely, page.items) } : page;
  }

  /** Lists the bindings stored beside the document (docs/decisions.md#kept-bindings), by path. */
  async bindings(actor: Actor, id: string, at: PageRequest = {}): Promise<Page<SpecBinding>> {
    await this.#visible(actor, id);
    const { kysely } = this.#context.db;
    const page = mapPage(await listBindings(kysely, id, at), presentBinding);
    return actor.role === 'viewer' ? { ...page, items: await redactChains(kysely, page.items) } : page;
  }

  /**
   * Binds plugins to operations, in a new revision (docs/reference/control-plane.md#spec-operations). Throws 422 if the
   * document has no such operation, or cannot be edited at that place. A patch that changes nothing makes no revision.
   * Concurrent patches are all applied, one after the other; a patch without an expectation never gets 412.
   */
  async updateOperations(
    actor: Actor,
    id: string,
    patch: OperationsPatch,
    expected: Expected = null,
  ): Promise<UploadedSpec> {
    const take = (bindings: readonly Binding[]) => bindings;
    return this.#bind(actor, id, { patch, take, action: 'specs.updateOperations' }, expected);
  }

  /** Deletes a binding: the document's own chain counts again, in a new revision. */
  async unbind(actor: Actor, id: string, bindingId: string, expected: Expected = null): Promise<void> {
    const take = (bindings: readonly Binding[]) => {
      const others = bindings.filter((each) => each.id !== bindingId);
      if (others.length === bindings.length) throw ControlError.notFound(`binding "${bindingId}" of ${named(id)}`);
      return others;
    };
    await this.#bind(actor, id, { patch: {}, take, action: 'specs.unbind' }, expected);
  }

  async #bind(actor: Actor, id: string, change: BindingChange, expected: Expected): Promise<UploadedSpec> {
    await this.#visible(actor, id);
    actor.mustHave('editor');
    return this.#patches.run(id, () =>
      this.#untilUnchanged(named(id), async () => {
        const spec = await this.#visible(actor, id);
        mustMatch(expected, spec.version, named(id));
        return this.#rebind(actor, spec, change);
      }),
    );
  }

  /** Throws BindingsChanged if the spec was revised meanwhile. */
  async #rebind(actor: Actor, before: SpecRow, { patch, take, action }: BindingChange): Promise<UploadedSpec> {
    const { blobs, db } = this.#context;
    const { project_id: projectId, name, version } = before;
    const latest = await findRevision(db.kysely, before.id, before.revision);
    if (!latest) throw ControlError.notFound(named(before.id));
    const kept = await bindingsOf(db.kysely, before.id);
    const { document_sha256: sha256, filename, form, entry } = latest;
    const bindings = take(kept.map(({ binding }) => binding));
    const task = { sha256, owner: projectId ?? '', filename, name, form, entry, bindings, patch };
    const { bytes, reading, outcomes } = await patchSpec(blobs, task);
    const document = await this.#blob(sha256);
    const blob = bytes ? await this.#storeBytes(bytes) : document;
    const revision = { projectId, name, filename, document, blob, reading, action, outcomes, bindings: kept };
    const { spec, isNew } = await db.kysely.transaction().execute(async (tx) => {
      const now = await lockSpec(tx, before.id);
      if (now?.version !== version) throw new BindingsChanged();
      return revise(tx, actor, revision);
    });
    return { upload: uploaded(spec, outcomes, null), version: spec.version, isNew };
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

interface BindingChange {
  readonly patch: OperationsPatch;
  /** Selects the bindings to continue with, of all stored ones. */
  readonly take: (bindings: readonly Binding[]) => readonly Binding[];
  readonly action: string;
}

function uploaded(
  { id, name, revision, sha256, document_sha256 }: SpecRow,
  outcomes: readonly Parameters<typeof presentOutcome>[0][],
  note: string | null,
): SpecUpload {
  const bindings = outcomes.map(presentOutcome);
  return { id, name, revision, sha256, document_sha256, bindings, ...(note === null ? {} : { note }) };
}

const gone = (outcome: BindingOutcome) => ({ ...outcome, state: 'discarded' as const });

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
