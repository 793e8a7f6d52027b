/** Deployments in the REST API (docs/reference/control-plane.md#deployments). */
import Type, { type Static } from 'typebox';
import { Closed, Named, Nullable, OneOf, pageQuery, RefTo, Timestamp, Uuid } from '../../api/schema-types.ts';

const STATUSES = ['in_progress', 'succeeded', 'failed', 'timed_out', 'superseded', 'rolled_back'] as const;

const policy = {
  timeout_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3600,
      default: 60,
      description: 'Data planes that have not answered by then have timed out.',
    }),
  ),
  rollback_threshold: Type.Optional(
    Nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0.5,
        description:
          'When more than this share of the data planes refuses, the previous artifact is deployed again. Null: never.',
      }),
    ),
  ),
};

export const DeployRequest = Named(
  'DeployRequest',
  { artifact_id: Uuid('Of an artifact of the project.'), ...policy },
  'What to deploy to all connected data planes of the project.',
);
export type DeployRequest = Static<typeof DeployRequest>;

export const RollbackRequest = Named(
  'RollbackRequest',
  {
    artifact_id: Type.Optional(
      Uuid('An earlier artifact of the project. Default: what was served before, and has not failed.'),
    ),
    ...policy,
  },
  'What to go back to.',
);
export type RollbackRequest = Static<typeof RollbackRequest>;

export const Deployment = Named(
  'Deployment',
  {
    deployment_id: Uuid('Of the deployment.'),
    project_id: Uuid('Of the project.'),
    artifact_id: Nullable(Uuid('Deployed artifact; null if retention has removed it.')),
    artifact_hash: Type.String({ description: 'Hash of the deployed artifact; kept after the artifact is removed.' }),
    previous_artifact_id: Nullable(
      Uuid('Artifact deployed before; null for the first deployment, or if it was removed.'),
    ),
    kind: OneOf(['deploy', 'rollback', 'automatic_rollback'], 'What began it.'),
    status: OneOf(
      STATUSES,
      '`succeeded`: all connected data planes serve it; `failed`: some refused; where all did and nothing was deployed before, nothing is deployed any more; `timed_out`: some did not answer; `superseded`: another came; `rolled_back`: too many refused, and the previous artifact was deployed again.',
    ),
    reason: Nullable(Type.String({ description: 'Why it ended so.' })),
    warning: Nullable(Type.String({ description: 'Reason against the artifact: an earlier deployment of it failed.' })),
    target_data_planes: Type.Integer({ minimum: 0, description: 'Data planes connected when it began.' }),
    applied: Type.Integer({ minimum: 0, description: 'Of them, those that serve it.' }),
    refused: Type.Integer({ minimum: 0 }),
    waiting: Type.Integer({ minimum: 0 }),
    rollback_of: Nullable(Uuid('The deployment that it rolls back.')),
    created_by: Type.String(),
    created_at: Timestamp('When it began.'),
    completed_at: Nullable(Timestamp('When it ended.')),
  },
  'An artifact on its way to the data planes of a project.',
);
export type Deployment = Static<typeof Deployment>;

export const DeploymentTarget = Named(
  'DeploymentTarget',
  {
    data_plane_id: Uuid('Of the data plane.'),
    name: Type.String(),
    status: OneOf(
      ['pending', 'notified', 'applied', 'refused', 'timed_out', 'disconnected'],
      'Result at this data plane.',
    ),
    reason: Nullable(Type.String({ description: 'Why it was refused.' })),
    served_hash: Nullable(Type.String({ description: 'Hash of the artifact that the data plane reports to serve.' })),
    updated_at: Timestamp('Time of its last message.'),
  },
  'Result of a deployment at one data plane.',
);
export type DeploymentTarget = Static<typeof DeploymentTarget>;

export const DeploymentDetail = Named(
  'DeploymentDetail',
  { ...Deployment.properties, targets: Type.Array(RefTo(DeploymentTarget, 'DeploymentTarget')) },
  'A deployment with its result at each data plane.',
);
export type DeploymentDetail = Static<typeof DeploymentDetail>;

export const DeploymentQuery = Closed({
  ...pageQuery(['created_at'], '-created_at'),
  status: Type.Optional(OneOf(STATUSES, 'Only with this status.')),
});
export type DeploymentQuery = Static<typeof DeploymentQuery>;
