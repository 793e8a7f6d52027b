/** What the REST API takes and answers with: the server's own schemas. */
export type { NewApiKey } from '../../src/resources/api-keys/schemas.ts';
export type { Artifact } from '../../src/resources/artifacts/schemas.ts';
export type { AuditEntry } from '../../src/resources/audit/schemas.ts';
export type { Compilation, Diagnostic } from '../../src/resources/compilations/schemas.ts';
export type { DataPlane } from '../../src/resources/data-planes/schemas.ts';
export type { Deployment } from '../../src/resources/deployments/schemas.ts';
export type { Plugin } from '../../src/resources/plugins/schemas.ts';
export type { ProjectPlugin, ProjectPluginInput } from '../../src/resources/project-plugins/schemas.ts';
export type { Project } from '../../src/resources/projects/schemas.ts';
export type { Spec, SpecOperation, SpecRevision, SpecUpload } from '../../src/resources/specs/schemas.ts';
export type { Identity, NewToken, Token } from '../../src/resources/tokens/schemas.ts';
