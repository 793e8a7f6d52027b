/** Requests and responses of the REST API: the server's own schemas. */
export type { NewApiKey } from '../../src/modules/api-keys/schemas.ts';
export type { Artifact, ArtifactTools } from '../../src/modules/artifacts/schemas.ts';
export type { AuditEntry } from '../../src/modules/audit/schemas.ts';
export type { Compilation, Diagnostic } from '../../src/modules/compilations/schemas.ts';
export type { DataPlane } from '../../src/modules/data-planes/schemas.ts';
export type { Deployment } from '../../src/modules/deployments/schemas.ts';
export type { Plugin } from '../../src/modules/plugins/schemas.ts';
export type { ProjectPlugin, ProjectPluginInput } from '../../src/modules/project-plugins/schemas.ts';
export type { Project } from '../../src/modules/projects/schemas.ts';
export type {
  BindingDecision,
  Spec,
  SpecBinding,
  SpecOperation,
  SpecRevision,
  SpecUpload,
} from '../../src/modules/specs/schemas.ts';
export type { Identity, NewToken, Token } from '../../src/modules/tokens/schemas.ts';
