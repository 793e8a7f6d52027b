/** `/docs/`: the API's reference for people, on the page that `gw dev` has too. */
import { REFERENCE_FILES, REFERENCE_HEADERS, type ReferenceListing, referenceFile } from '@gw/gateway/api-reference';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { stringify } from 'yaml';

const LISTING: ReferenceListing = {
  title: 'API reference · gw control plane',
  documents: [{ name: 'gw control plane', url: 'openapi.json' }],
  server: null,
};

export function referencePages(app: FastifyInstance, document: () => object): void {
  const options = { schema: { hide: true } };
  app.get('/docs', options, (_request, reply) => reply.redirect('/docs/', 301));
  for (const name of REFERENCE_FILES) {
    app.get(`/docs/${name}`, options, async (_request, reply) => {
      const file = await referenceFile(name);
      return withHeaders(reply, file?.type ?? '').send(file?.body);
    });
  }
  app.get('/docs/documents.json', options, (_request, reply) => withHeaders(reply, 'application/json').send(LISTING));
  app.get('/docs/openapi.json', options, (_request, reply) => withHeaders(reply, 'application/json').send(document()));
  app.get('/docs/openapi.yaml', options, (_request, reply) =>
    withHeaders(reply, 'application/yaml').send(stringify(document())),
  );
}

function withHeaders(reply: FastifyReply, type: string): FastifyReply {
  for (let i = 0; i < REFERENCE_HEADERS.length; i += 2) {
    reply.header(REFERENCE_HEADERS[i] ?? '', REFERENCE_HEADERS[i + 1]);
  }
  return reply.type(type);
}
