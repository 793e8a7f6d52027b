/**
 * Deployments: an artifact on its way to the data planes of a project (docs/reference/control-plane.md#deployments).
 */
import type { Kysely } from 'kysely';
import type { Actor } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import type { DeploymentsTable, Schema } from '../../db/schema.ts';
import { ControlError } from '../../errors.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { findProject, lockProject, type ProjectRow } from '../../project-scope/project-row.ts';
import { beginDeployment } from './begin-deployment.ts';
import { deploymentOperations } from './operations.ts';
import { presentDeployment, presentTarget } from './present.ts';
import type { Deployment, DeploymentDetail, DeploymentQuery, DeployRequest, RollbackRequest } from './schemas.ts';
import {
  findDeployments,
  holdArtifact,
  lastDeployment,
  lastGoodArtifact,
  listDeployments,
  targetsOf,
} from './store.ts';

const TIMEOUT_SECONDS = 60;
const ROLLBACK_THRESHOLD = 0.5;

type Policy = Pick<DeployRequest, 'timeout_seconds' | 'rollback_threshold'>;

/** The artifact that a deployment or rollback chooses. */
interface Choice {
  readonly artifactId: string;
  readonly kind: DeploymentsTable['kind'];
  readonly rollbackOf: string | null;
}

export class Deployments {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async list(actor: Actor, projectId: string, query: DeploymentQuery = {}): Promise<Page<Deployment>> {
    const { kysely } = this.#context.db;
    await this.#mustSee(actor, projectId);
    return mapPage(await listDeployments(kysely, projectId, query), presentDeployment);
  }

  async get(actor: Actor, projectId: string, id: string): Promise<DeploymentDetail> {
    const { kysely } = this.#context.db;
    actor.mustBe('viewer', projectId, project(projectId));
    const [row] = await findDeployments(kysely, projectId, [id]);
    if (!row) throw ControlError.notFound(`deployment "${id}" in ${project(projectId)}`);
    return { ...presentDeployment(row), targets: (await targetsOf(kysely, id)).map(presentTarget) };
  }

  /** Deploys the artifact to all data planes of the project. Supersedes a deployment in progress. */
  async deploy(actor: Actor, projectId: string, { artifact_id, ...policy }: DeployRequest): Promise<Deployment> {
    actor.mustBe('deployer', projectId, project(projectId));
    return this.#begin(actor, projectId, policy, async (db) => {
      await this.#mustBeOf(db, actor, projectId, artifact_id);
      return { artifactId: artifact_id, kind: 'deploy', rollbackOf: null };
    });
  }

  /** Returns to an earlier artifact, or to the last one deployed with success. */
  async rollback(actor: Actor, projectId: string, { artifact_id, ...policy }: RollbackRequest): Promise<Deployment> {
    actor.mustBe('deployer', projectId, project(projectId));
    return this.#begin(actor, projectId, policy, async (db, { deployed_artifact_id }) => {
      if (artifact_id !== undefined) await this.#mustBeOf(db, actor, projectId, artifact_id);
      const artifactId = artifact_id ?? (await lastGoodArtifact(db, projectId, deployed_artifact_id));
      if (artifactId === null) {
        const detail = `nothing else was deployed successfully to ${project(projectId)}: name the artifact, or deploy one`;
        throw new ControlError('conflict', detail);
      }
      if (artifactId === deployed_artifact_id) {
        throw new ControlError('conflict', `artifact "${artifactId}" is already deployed: name an earlier one`);
      }
      const last = await lastDeployment(db, projectId);
      return { artifactId, kind: 'rollback', rollbackOf: last?.id ?? null };
    });
  }

  async #begin(
    actor: Actor,
    projectId: string,
    { timeout_seconds = TIMEOUT_SECONDS, rollback_threshold = ROLLBACK_THRESHOLD }: Policy,
    choose: (db: Kysely<Schema>, project: ProjectRow) => Promise<Choice>,
  ): Promise<Deployment> {
    const { db: database, metrics } = this.#context;
    const { kysely, notifications } = database;
    const { deployment, superseded } = await kysely.transaction().execute(async (db) => {
      const row = await lockProject(db, projectId);
      if (!row) throw ControlError.notFound(project(projectId));
      const choice = await choose(db, row);
      const begun = await beginDeployment(db, notifications, row, actor, {
        ...choice,
        timeoutSeconds: timeout_seconds,
        rollbackThreshold: rollback_threshold,
      });
      const [found] = await findDeployments(db, projectId, [begun.id]);
      if (!found) throw new Error(`deployment ${begun.id} is not there after it began`);
      return { deployment: presentDeployment(found), superseded: begun.superseded };
    });
    if (superseded !== null) metrics.count('gw_control_deployments_total', { status: 'superseded' });
    if (deployment.status === 'succeeded') metrics.count('gw_control_deployments_total', { status: 'succeeded' });
    return deployment;
  }

  async #mustBeOf(db: Kysely<Schema>, actor: Actor, projectId: string, artifactId: string): Promise<void> {
    const artifact = await holdArtifact(db, artifactId);
    if (!artifact || !actor.sees(artifact.project_id)) throw ControlError.notFound(`artifact "${artifactId}"`);
    if (artifact.project_id === projectId) return;
    const detail = `artifact "${artifactId}" was not compiled for ${project(projectId)}: compile its specs for it`;
    throw new ControlError('conflict', detail);
  }

  async #mustSee(actor: Actor, projectId: string): Promise<void> {
    actor.mustBe('viewer', projectId, project(projectId));
    if (!(await findProject(this.#context.db.kysely, projectId))) throw ControlError.notFound(project(projectId));
  }
}

const project = (id: string): string => `project "${id}"`;

/** Deployments over HTTP (docs/reference/control-plane.md#deployments). */
export const deploymentResource = resource(
  deploymentOperations,
  ({ deployments }: { readonly deployments: Deployments }) => ({
    'deployments.deploy': async ({ actor, params, body, reply }) => {
      const deployment = await deployments.deploy(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/deployments/${deployment.deployment_id}`);
      return deployment;
    },
    'deployments.rollback': async ({ actor, params, body, reply }) => {
      const deployment = await deployments.rollback(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/deployments/${deployment.deployment_id}`);
      return deployment;
    },
    'deployments.list': ({ actor, params, query }) => deployments.list(actor, params.id, query),
    'deployments.get': ({ actor, params }) => deployments.get(actor, params.id, params.deployment_id),
  }),
);
