/** Every resource of the REST API: one line each. */

import { VERSION } from '@gw/gateway/version';
import type { TSchema } from 'typebox';
import type { ControlPlane } from '../control-plane.ts';
import { Problem } from '../http/problem.ts';
import { type Resource, resource } from '../http/resource.ts';
import type { RestApi } from '../http/server.ts';
import * as apiKeys from './api-keys/schemas.ts';
import { apiKeyResource } from './api-keys/service.ts';
import * as artifacts from './artifacts/schemas.ts';
import { artifactResource } from './artifacts/service.ts';
import * as audit from './audit/schemas.ts';
import { auditResource } from './audit/service.ts';
import * as compilations from './compilations/schemas.ts';
import { compilationResource } from './compilations/service.ts';
import * as dataPlanes from './data-planes/schemas.ts';
import { dataPlaneResource } from './data-planes/service.ts';
import * as deployments from './deployments/schemas.ts';
import { deploymentResource } from './deployments/service.ts';
import { pluginResource } from './plugins/handlers.ts';
import * as plugins from './plugins/schemas.ts';
import * as projectPlugins from './project-plugins/schemas.ts';
import { projectPluginResource } from './project-plugins/service.ts';
import { projectResource } from './projects/handlers.ts';
import * as projects from './projects/schemas.ts';
import { specResource } from './specs/handlers.ts';
import * as specs from './specs/schemas.ts';
import { systemOperations } from './system/operations.ts';
import * as system from './system/schemas.ts';
import * as tokens from './tokens/schemas.ts';
import { tokenResource } from './tokens/service.ts';

/** The server's own operations (docs/reference/control-plane.md#operations). */
const systemResource = resource(systemOperations, () => ({
  'system.health': () => ({ status: 'healthy' as const, version: VERSION }),
}));

const RESOURCES: readonly Resource<ControlPlane>[] = [
  systemResource,
  projectResource,
  specResource,
  apiKeyResource,
  tokenResource,
  auditResource,
  compilationResource,
  artifactResource,
  dataPlaneResource,
  deploymentResource,
  pluginResource,
  projectPluginResource,
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

/** Schemas that the OpenAPI document names. */
export const NAMED_SCHEMAS: readonly TSchema[] = [
  Problem,
  ...SCHEMAS.flatMap((each): TSchema[] => Object.values<unknown>(each).filter(isNamed)),
];

/** Routes and schemas of the server. */
export function restApi(control: ControlPlane): RestApi {
  return {
    schemas: NAMED_SCHEMAS,
    serve(app) {
      for (const each of RESOURCES) each.serve(app, control);
    },
  };
}

function isNamed(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && '$id' in value;
}
