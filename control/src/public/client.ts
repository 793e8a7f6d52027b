/**
 * `@gw/control/client`: the REST API of a control plane for programs. Paths and bodies are those of its OpenAPI document
 * (`GET /openapi`).
 *
 * @example
 * const api = new Api({ server: 'https://control.example.com', token: process.env.GW_TOKEN });
 * for (const { name, id } of await api.list<Project>('/projects')) console.log(name, id);
 */
export { Api, ApiError, type ApiOptions, type Problem, type RequestOptions } from '../cli/api.ts';
export type { Artifact, ArtifactDetail } from '../resources/artifacts/schemas.ts';
export type { Deployment } from '../resources/deployments/schemas.ts';
export type { Plugin } from '../resources/plugins/schemas.ts';
export type { ProjectPlugin, ProjectPluginInput } from '../resources/project-plugins/schemas.ts';
export type { Project } from '../resources/projects/schemas.ts';
export type { Spec, SpecUpload } from '../resources/specs/schemas.ts';
