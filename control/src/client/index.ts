/** The REST API for programs: a client, and the types of answers. */
export { PROBLEMS } from '../errors.ts';
export type { Artifact, ArtifactDetail } from '../modules/artifacts/schemas.ts';
export type { Deployment } from '../modules/deployments/schemas.ts';
export type { Plugin } from '../modules/plugins/schemas.ts';
export type { ProjectPlugin, ProjectPluginInput } from '../modules/project-plugins/schemas.ts';
export type { Project } from '../modules/projects/schemas.ts';
export type { Spec, SpecUpload } from '../modules/specs/schemas.ts';
export { specName } from '../modules/specs/spec-name.ts';
export { ApiError, reasonOf } from './api-error.ts';
export { type ClientOptions, ControlClient } from './client.ts';
export { nextLink } from './next-link.ts';
