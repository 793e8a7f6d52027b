/** Artifacts (docs/reference/control-plane.md#artifacts). */
import { ARTIFACT_TYPE } from '../../api/media-types.ts';
import { operations, partialAnswer } from '../../api/operation.ts';
import { ArrayOf, Closed, Uuid } from '../../api/schema-types.ts';
import { ProjectParams } from '../../project-scope/project-params.ts';
import { Artifact, ArtifactDetail, ArtifactForm, ArtifactQuery, ArtifactTools } from './schemas.ts';

const ArtifactParams = Closed({ id: Uuid('Of the artifact.') });
const tag = 'Artifacts';

export const artifactOperations = operations({
  'artifacts.list': {
    tag,
    summary: 'List artifacts',
    method: 'GET',
    path: '/artifacts',
    query: ArtifactQuery,
    answers: { 200: ArrayOf(Artifact) },
  },
  'artifacts.listOfProject': {
    tag,
    summary: 'List artifacts of a project',
    method: 'GET',
    path: '/projects/{id}/artifacts',
    params: ProjectParams,
    query: ArtifactQuery,
    answers: { 200: ArrayOf(Artifact) },
    problems: ['not-found'],
  },
  'artifacts.import': {
    tag,
    summary: 'Import an artifact that was compiled elsewhere',
    description:
      'Verified as a gateway does, and stored unchanged, with its hash and signature. An artifact that the project has already changes nothing (200).',
    method: 'POST',
    path: '/projects/{id}/artifacts',
    params: ProjectParams,
    form: ArtifactForm,
    answers: { 201: Artifact, 200: Artifact },
    idempotent: true,
    problems: ['not-found', 'artifact-invalid'],
  },
  'artifacts.get': {
    tag,
    summary: 'Read an artifact',
    description: 'With its manifest.',
    method: 'GET',
    path: '/artifacts/{id}',
    params: ArtifactParams,
    answers: { 200: ArtifactDetail },
    problems: ['not-found'],
  },
  'artifacts.tools': {
    tag,
    summary: 'List the tools of an artifact',
    description:
      'Tools that it offers to agents, with sizes in tokens. Only running gateways list the tools of MCP upstreams.',
    method: 'GET',
    path: '/artifacts/{id}/tools',
    params: ArtifactParams,
    answers: { 200: ArtifactTools },
    problems: ['not-found', 'artifact-invalid'],
  },
  'artifacts.delete': {
    tag,
    summary: 'Delete an artifact',
    description: 'One that was never deployed: deployments refer to the others, and may go back to them.',
    method: 'DELETE',
    path: '/artifacts/{id}',
    params: ArtifactParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    problems: ['not-found', 'conflict'],
  },
  'artifacts.download': {
    tag,
    summary: 'Download an artifact',
    description:
      'The .gwa file, with all that plugin configs hold: it needs the role `deployer`, or a data-plane key of its project.',
    method: 'GET',
    path: '/artifacts/{id}/download',
    params: ArtifactParams,
    answers: { 200: { description: 'The file', types: [ARTIFACT_TYPE] }, ...partialAnswer([ARTIFACT_TYPE]) },
    download: true,
    dataPlaneKey: true,
    problems: ['not-found'],
  },
});
