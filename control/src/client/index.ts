/** The REST API for programs: a client, and the types of answers. */
export { PROBLEMS } from '../errors.ts';
export type { Deployment } from '../modules/deployments/schemas.ts';
export type { ProjectPlugin, ProjectPluginInput } from '../modules/project-plugins/schemas.ts';
export type { Project } from '../modules/projects/schemas.ts';
export type { Spec } from '../modules/specs/schemas.ts';
export { specName } from '../modules/specs/spec-name.ts';
export { ApiError, reasonOf } from './api-error.ts';
export { ControlClient } from './client.ts';
export { nextLink } from './next-link.ts';
