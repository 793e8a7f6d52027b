/** `/openapi` and `/docs`: both from the schemas of the routes (docs/reference/control-plane.md#openapi). */
import swagger from '@fastify/swagger';
import { REFERENCE_FILES, REFERENCE_HEADERS, type ReferenceListing, referenceFile } from '@gw/gateway/api-reference';
import { VERSION } from '@gw/gateway/version';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { stringify } from 'yaml';

export async function describeApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'gw control plane',
        version: VERSION,
        description:
          'Stores API specs and plugins, compiles them into artifacts, and deploys these to data planes. Lists are arrays; a `Link` header with `rel="next"` leads to the next page.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'The admin token, an API token, or an OIDC token.' },
        },
      },
      security: [{ bearer: [] }],
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json['$id'] ?? `schema-${i}`) },
    transform: ({ schema, url }) => ({ schema: withForm(schema as Record<string, unknown>), url }),
  });
  await app.register(async (pages) => {
    pages.addHook('onRoute', (route) => {
      route.config = { ...route.config, browsable: true };
    });
    referencePages(pages, () => app.swagger());
    pages.get('/openapi', { schema: { hide: true } }, async (_request, reply) =>
      reply.type('application/yaml').header('x-content-type-options', 'nosniff').send(stringify(app.swagger())),
    );
  });
}

/** Describes a multipart form, which its handler reads as it streams. */
function withForm({ 'x-form': form, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return form ? { ...schema, body: form } : schema;
}

const LISTING: ReferenceListing = {
  title: 'API reference · gw control plane',
  documents: [{ name: 'gw control plane', url: 'openapi.json' }],
  server: null,
};

function referencePages(app: FastifyInstance, document: () => object): void {
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
