/** The REST API for programs: a client of it, and what it answers. */
export { PROBLEMS } from '../errors.ts';
export type { Artifact, ArtifactDetail } from '../resources/artifacts/schemas.ts';
export type { Deployment } from '../resources/deployments/schemas.ts';
export type { Plugin } from '../resources/plugins/schemas.ts';
export type { ProjectPlugin, ProjectPluginInput } from '../resources/project-plugins/schemas.ts';
export type { Project } from '../resources/projects/schemas.ts';
export type { Spec, SpecUpload } from '../resources/specs/schemas.ts';
export { specName } from '../specs/spec-name.ts';
export { ApiError, reasonOf } from './api-error.ts';
export { type ClientOptions, ControlClient } from './client.ts';
export { nextLink } from './next-link.ts';
