/** Every resource of the REST API: one line each. */
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import type { ControlPlane } from '../control-plane.ts';
import { eventRoutes } from '../events/routes.ts';
import { Problem } from '../http/problem.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import * as apiKeys from './api-keys/schemas.ts';
import { artifactRoutes } from './artifacts/routes.ts';
import * as artifacts from './artifacts/schemas.ts';
import { auditRoutes } from './audit/routes.ts';
import * as audit from './audit/schemas.ts';
import { compilationRoutes } from './compilations/routes.ts';
import * as compilations from './compilations/schemas.ts';
import { dataPlaneRoutes } from './data-planes/routes.ts';
import * as dataPlanes from './data-planes/schemas.ts';
import { deploymentRoutes } from './deployments/routes.ts';
import * as deployments from './deployments/schemas.ts';
import { pluginRoutes } from './plugins/routes.ts';
import * as plugins from './plugins/schemas.ts';
import { projectPluginRoutes } from './project-plugins/routes.ts';
import * as projectPlugins from './project-plugins/schemas.ts';
import { projectRoutes } from './projects/routes.ts';
import * as projects from './projects/schemas.ts';
import { specRoutes } from './specs/routes.ts';
import * as specs from './specs/schemas.ts';
import { systemRoutes } from './system/routes.ts';
import * as system from './system/schemas.ts';
import { tokenRoutes } from './tokens/routes.ts';
import * as tokens from './tokens/schemas.ts';

export const ROUTES: readonly ((app: FastifyInstance, control: ControlPlane) => void)[] = [
  systemRoutes,
  projectRoutes,
  specRoutes,
  apiKeyRoutes,
  tokenRoutes,
  auditRoutes,
  compilationRoutes,
  artifactRoutes,
  dataPlaneRoutes,
  deploymentRoutes,
  eventRoutes,
  pluginRoutes,
  projectPluginRoutes,
];

const SCHEMAS = [
  projects,
  specs,
  compilations,
  plugins,
  projectPlugins,
  artifacts,
  dataPlanes,
  deployments,
  apiKeys,
  tokens,
  audit,
  system,
];

/** What the OpenAPI document has under a name of its own. */
export const NAMED_SCHEMAS: readonly TSchema[] = [
  Problem,
  ...SCHEMAS.flatMap((each): TSchema[] => Object.values<unknown>(each).filter(isNamed)),
];

function isNamed(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && '$id' in value;
}
