/** Artifacts over HTTP (docs/reference/control-plane.md#artifacts). */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { readForm } from '../../http/form.ts';
import { idempotently } from '../../http/idempotency.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed, Uuid } from '../../http/schema-types.ts';
import { partialAnswer, sendBlob } from '../../http/send-blob.ts';
import { ProjectParams } from '../projects/routes.ts';
import { Artifact, ArtifactDetail, ArtifactForm, ArtifactQuery } from './schemas.ts';
import { ARTIFACT_TYPE } from './service.ts';

const ArtifactParams = Closed({ id: Uuid('Of the artifact.') });
const tag = 'Artifacts';

export function artifactRoutes(app: FastifyInstance, { artifacts, context }: ControlPlane): void {
  operation(app, {
    id: 'artifacts.list',
    tag,
    summary: 'List artifacts',
    method: 'GET',
    url: '/artifacts',
    query: ArtifactQuery,
    answers: { 200: Type.Array(Type.Ref('Artifact#')) },
    handle: async ({ actor, query, request, reply }) => sendPage(request, reply, await artifacts.list(actor, query)),
  });
  operation(app, {
    id: 'artifacts.listOfProject',
    tag,
    summary: 'List artifacts of a project',
    method: 'GET',
    url: '/projects/:id/artifacts',
    params: ProjectParams,
    query: ArtifactQuery,
    answers: { 200: Type.Array(Type.Ref('Artifact#')) },
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await artifacts.listOfProject(actor, params.id, query)),
  });
  operation(app, {
    id: 'artifacts.import',
    tag,
    summary: 'Import an artifact that was compiled elsewhere',
    description:
      'Verified as a gateway would, and kept as it is: its hash, and its signature, stay. What the project has already changes nothing (200).',
    method: 'POST',
    url: '/projects/:id/artifacts',
    params: ProjectParams,
    form: ArtifactForm,
    answers: { 201: Artifact, 200: Artifact },
    idempotent: true,
    problems: ['not-found', 'artifact-invalid'],
    handle: async (call) => {
      const { actor, params, request, reply } = call;
      await artifacts.mayImport(actor, params.id);
      return request.server.uploads.run(params.id, request.raw, async () => {
        const { fields, file } = await readForm(request, ArtifactForm, (content) => artifacts.storeFile(content));
        const production = fields.production === 'true';
        return idempotently(call, JSON.stringify([production, file.sha256]), async () => {
          const { artifact, isNew } = await artifacts.import(actor, params.id, { file, production });
          reply.code(isNew ? 201 : 200).header('location', `/artifacts/${artifact.id}`);
          return artifact;
        });
      });
    },
  });
  operation(app, {
    id: 'artifacts.get',
    tag,
    summary: 'Read an artifact',
    description: 'With its manifest.',
    method: 'GET',
    url: '/artifacts/:id',
    params: ArtifactParams,
    answers: { 200: ArtifactDetail },
    problems: ['not-found'],
    handle: ({ actor, params }) => artifacts.get(actor, params.id),
  });
  operation(app, {
    id: 'artifacts.delete',
    tag,
    summary: 'Delete an artifact',
    description: 'One that was never deployed: deployments refer to the others, and may go back to them.',
    method: 'DELETE',
    url: '/artifacts/:id',
    params: ArtifactParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, reply }) => {
      await artifacts.delete(actor, params.id);
      return reply.code(204).send();
    },
  });
  operation(app, {
    id: 'artifacts.download',
    tag,
    summary: 'Download an artifact',
    description:
      'The .gwa file, with all that plugin configs hold: it needs the role `deployer`, or a data-plane key of its project.',
    method: 'GET',
    url: '/artifacts/:id/download',
    params: ArtifactParams,
    answers: { 200: { description: 'The file', types: [ARTIFACT_TYPE] }, ...partialAnswer([ARTIFACT_TYPE]) },
    download: true,
    dataPlaneKey: true,
    problems: ['not-found'],
    handle: async ({ actor, params, request, reply }) =>
      sendBlob(context.blobs, await artifacts.download(actor, params.id), request, reply),
  });
}
