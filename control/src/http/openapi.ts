/** `/openapi` and `/docs`: both from the schemas of the routes (docs/reference/control-plane.md#openapi). */
import swagger from '@fastify/swagger';
import { VERSION } from '@gw/gateway/version';
import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { referencePages } from './reference-pages.ts';

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
