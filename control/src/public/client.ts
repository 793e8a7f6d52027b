/**
 * `@gw/control/client`: the REST API of a control plane for programs. Operations go by the ids of its OpenAPI document
 * (`GET /openapi`), with the types of what each takes and answers.
 *
 * @example
 * const client = new ControlClient({ server: 'https://control.example.com', token: process.env.GW_TOKEN });
 * for (const { name, id } of await client.list('projects.list')) console.log(name, id);
 */
export { ApiError, type Problem } from '../client/api-error.ts';
export {
  type CallOptions,
  type ClientOptions,
  ControlClient,
  type ListOptions,
  type Page,
  type Versioned,
} from '../client/client.ts';
export type { Answer, EventsId, Input, Item, ListId, OperationId, StreamEvent } from '../client/operation-types.ts';
export type { Artifact, ArtifactDetail } from '../modules/artifacts/schemas.ts';
export type { Deployment } from '../modules/deployments/schemas.ts';
export type { Plugin } from '../modules/plugins/schemas.ts';
export type { ProjectPlugin, ProjectPluginInput } from '../modules/project-plugins/schemas.ts';
export type { Project } from '../modules/projects/schemas.ts';
export type { Spec, SpecUpload } from '../modules/specs/schemas.ts';
