/** `/docs`: the API's reference for people, as Scalar shows it. */
import Fastify, { type FastifyInstance } from 'fastify';

/** Paths of Scalar's plugin. */
const PATHS = ['/docs', '/docs/', '/docs/js/scalar.js', '/docs/openapi.json', '/docs/openapi.yaml'];

/**
 * Its script of 4 MB takes 20 as text in memory: it is loaded at the first request for a page. A listening server
 * accepts no more routes, so the plugin has a server of its own, behind these.
 */
export function referencePages(app: FastifyInstance, document: () => object): void {
  let loaded: Promise<FastifyInstance> | null = null;
  for (const path of PATHS) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      loaded ??= load(document);
      const { statusCode, headers, payload } = await (await loaded).inject(path);
      const { 'content-type': type, 'content-disposition': disposition, location } = headers;
      for (const [name, value] of Object.entries({
        'content-type': type,
        'content-disposition': disposition,
        location,
      })) {
        if (value !== undefined) reply.header(name, value);
      }
      return reply.code(statusCode).send(payload);
    });
  }
}

async function load(document: () => object): Promise<FastifyInstance> {
  const { default: reference } = await import('@scalar/fastify-api-reference');
  const pages = Fastify();
  await pages.register(reference, {
    routePrefix: '/docs',
    // No links to services of others.
    configuration: {
      content: document,
      title: 'gw control plane',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  await pages.ready();
  return pages;
}
