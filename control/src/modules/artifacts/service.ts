/**
 * Artifacts, the results of compilations, by content (docs/reference/control-plane.md#artifacts,
 * docs/decisions.md#reproducible-hash).
 */

import type { Actor } from '../../access/actor.ts';
import { ARTIFACT_TYPE } from '../../api/media-types.ts';
import type { Context } from '../../context.ts';
import type { BlobInfo } from '../../db/blobs.ts';
import { violatedConstraint } from '../../db/violations.ts';
import { ControlError } from '../../errors.ts';
import { readForm } from '../../http/form.ts';
import { idempotently } from '../../http/idempotency.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { type Download, sendBlob } from '../../http/send-blob.ts';
import { findProject, lockProject } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { artifactOperations } from './operations.ts';
import {
  type Artifact,
  type ArtifactDetail,
  type ArtifactDocuments,
  ArtifactForm,
  type ArtifactQuery,
  type ArtifactTools,
} from './schemas.ts';
import {
  type ArtifactRow,
  deleteArtifact,
  findArtifact,
  findArtifactFile,
  listArtifacts,
  lockArtifact,
  storeArtifact,
  wasDeployed,
} from './store.ts';
import { listDocuments, listTools, MAX_ARTIFACT, verifyArtifact } from './verify-artifact.ts';

export interface ArtifactImport {
  /** A .gwa file, or the result of `storeFile`. */
  readonly file: AsyncIterable<Uint8Array> | BlobInfo;
  /** Whether the caller declares it a production build (docs/decisions.md#production-builds). Default: false. */
  readonly production?: boolean;
}

export interface ImportedArtifact {
  readonly artifact: Artifact;
  /** False if the project has the same already. */
  readonly isNew: boolean;
}

export class Artifacts {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async list(actor: Actor, query: ArtifactQuery = {}): Promise<Page<Artifact>> {
    actor.mustHave('viewer');
    return mapPage(await listArtifacts(this.#context.db.kysely, actor.projectId, query), present);
  }

  async listOfProject(actor: Actor, projectId: string, query: ArtifactQuery = {}): Promise<Page<Artifact>> {
    const { kysely } = this.#context.db;
    actor.mustBe('viewer', projectId, `project "${projectId}"`);
    if (!(await findProject(kysely, projectId))) throw ControlError.notFound(`project "${projectId}"`);
    return mapPage(await listArtifacts(kysely, projectId, query), present);
  }

  async get(actor: Actor, id: string): Promise<ArtifactDetail> {
    const row = await this.#visible(actor, id);
    return { ...present(row), manifest: { ...row.manifest } };
  }

  /** Lists the tools for agents. Open to viewers: it contains what the specs contain, and no plugin config. */
  async tools(actor: Actor, id: string): Promise<ArtifactTools> {
    const row = await this.#visible(actor, id);
    const { tools, upstreams, warnings, ...sums } = await listTools(
      this.#context.blobs,
      row.file_sha256,
      row.project_id ?? '',
    );
    return {
      ...sums,
      tools: tools.map((tool) => ({ ...tool, definition: { ...tool.definition } })),
      upstreams: [...upstreams],
      warnings: [...warnings],
    };
  }

  /** Returns its OpenAPI documents, for viewers, like its tools. */
  async documents(actor: Actor, id: string): Promise<ArtifactDocuments> {
    const row = await this.#visible(actor, id);
    const { blobs } = this.#context;
    const documents = await listDocuments(blobs, row.file_sha256, row.project_id ?? '');
    return {
      documents: documents.map(({ name, isApi, document }) => ({ name, api: isApi, document: { ...document } })),
    };
  }

  /**
   * Returns the place of its bytes; `context.blobs` reads them. For deployers and data planes: its plugin configs
   * contain values that lists hide from viewers.
   */
  async download(actor: Actor, id: string): Promise<Download> {
    const row = await findArtifactFile(this.#context.db.kysely, id);
    if (!row) throw ControlError.notFound(named(id));
    actor.mustBe(actor.isDataPlane ? 'viewer' : 'deployer', row.project_id, named(id));
    const { file_sha256: sha256, size, project_name, artifact_hash } = row;
    const filename = `${project_name ?? 'artifact'}-${artifact_hash.slice('sha256:'.length).slice(0, 8)}.gwa`;
    return { sha256, size, type: ARTIFACT_TYPE, filename };
  }

  /** Throws if the actor may not import, before the bytes are read. */
  async mayImport(actor: Actor, projectId: string): Promise<void> {
    // Modules in it never were in the registry, which is for admins too.
    actor.mustBe('admin', projectId, `project "${projectId}"`);
    const found = await findProject(this.#context.db.kysely, projectId);
    if (!found) throw ControlError.notFound(`project "${projectId}"`);
  }

  /** Takes bytes in for an import to follow; throws BlobTooLarge. */
  storeFile(content: AsyncIterable<Uint8Array>): Promise<BlobInfo> {
    return this.#context.blobs.put(content, MAX_ARTIFACT);
  }

  /** Imports an artifact that was compiled elsewhere, with its hash and signature unchanged. */
  async import(
    actor: Actor,
    projectId: string,
    { file, production = false }: ArtifactImport,
  ): Promise<ImportedArtifact> {
    await this.mayImport(actor, projectId);
    const { blobs, db: database } = this.#context;
    const blob = 'sha256' in file ? file : await this.storeFile(file);
    const manifest = await verifyArtifact(blobs, blob.sha256, projectId);
    return database.kysely.transaction().execute(async (db) => {
      if (!(await lockProject(db, projectId))) throw ControlError.notFound(`project "${projectId}"`);
      const of = { project_id: projectId, production, created_by: actor.name };
      const { id, isNew } = await storeArtifact(db, { blob, manifest, of });
      const row = await findArtifact(db, id);
      if (!row) throw new Error(`artifact ${id} is not there after it was stored`);
      const resource = { type: 'artifact', id, projectId };
      if (isNew) await recordChange(db, actor, { action: 'artifacts.import', resource, after: present(row) });
      return { artifact: present(row), isNew };
    });
  }

  /** Throws a conflict if the artifact was ever deployed: the history names it, and a rollback may need it. */
  async delete(actor: Actor, id: string): Promise<void> {
    try {
      await this.#context.db.kysely.transaction().execute(async (db) => {
        const row = await lockArtifact(db, id);
        if (!row) throw ControlError.notFound(named(id));
        actor.mustBe('editor', row.project_id, named(id));
        if (await wasDeployed(db, id)) throw deployed(id);
        await deleteArtifact(db, id);
        const resource = { type: 'artifact', id, projectId: row.project_id };
        await recordChange(db, actor, { action: 'artifacts.delete', resource, before: present(row) });
      });
    } catch (error) {
      // A deployment began meanwhile.
      throw violatedConstraint(error) === null ? error : deployed(id);
    }
  }

  async #visible(actor: Actor, id: string): Promise<ArtifactRow> {
    actor.mustHave('viewer');
    const row = await findArtifact(this.#context.db.kysely, id);
    if (!row) throw ControlError.notFound(named(id));
    actor.mustBe('viewer', row.project_id, named(id));
    return row;
  }
}

const named = (id: string): string => `artifact "${id}"`;

function deployed(id: string): ControlError {
  const detail = `${named(id)} was deployed: deployments refer to it, and may roll back to it, for as long as its project exists`;
  return new ControlError('conflict', detail);
}

function present(row: ArtifactRow): Artifact {
  const { routes_count, source_specs, plugins = [] } = row.manifest;
  return {
    id: row.id,
    project_id: row.project_id,
    artifact_hash: row.artifact_hash,
    sha256: row.file_sha256,
    size: row.size,
    signed: row.signed_by !== null,
    production: row.production,
    compiler_version: row.compiler_version,
    artifact_version: row.artifact_version,
    routes_count,
    specs: source_specs.map(({ file }) => file),
    plugins: plugins.map(({ name, version }) => ({ name, version })),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
  };
}

/** Artifacts over HTTP (docs/reference/control-plane.md#artifacts). */
export const artifactResource = resource(
  artifactOperations,
  ({ artifacts, context }: { readonly artifacts: Artifacts; readonly context: Context }) => ({
    'artifacts.list': ({ actor, query }) => artifacts.list(actor, query),
    'artifacts.listOfProject': ({ actor, params, query }) => artifacts.listOfProject(actor, params.id, query),
    'artifacts.import': async (call) => {
      const { actor, params, request, reply } = call;
      await artifacts.mayImport(actor, params.id);
      return request.server.uploads.run({ project: params.id, person: actor.name }, request.raw, async () => {
        const { fields, file } = await readForm(request, ArtifactForm, (content) => artifacts.storeFile(content));
        const production = fields.production === 'true';
        return idempotently(call, JSON.stringify([production, file.sha256]), async () => {
          const { artifact, isNew } = await artifacts.import(actor, params.id, { file, production });
          reply.code(isNew ? 201 : 200).header('location', `/artifacts/${artifact.id}`);
          return artifact;
        });
      });
    },
    'artifacts.get': ({ actor, params }) => artifacts.get(actor, params.id),
    'artifacts.tools': ({ actor, params }) => artifacts.tools(actor, params.id),
    'artifacts.documents': ({ actor, params }) => artifacts.documents(actor, params.id),
    'artifacts.delete': ({ actor, params }) => artifacts.delete(actor, params.id),
    'artifacts.download': async ({ actor, params, request, reply }) =>
      sendBlob(context.blobs, await artifacts.download(actor, params.id), request, reply),
  }),
);
