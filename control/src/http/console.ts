/**
 * The web console at `/ui`: its files are open without a token (docs/decisions.md#open-endpoints), the data that they
 * show is not.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import files from '@fastify/static';
import { REFERENCE_FILES, REFERENCE_HEADERS, referenceFile } from '@gw/gateway/api-reference';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ControlError } from '../errors.ts';

/** Built files: in the source tree, or beside the bundle that includes this file. */
const FOLDER = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', 'dist', 'ui')
  : join(import.meta.dirname, 'ui');

export async function consoleRoutes(app: FastifyInstance): Promise<void> {
  const index = existsSync(join(FOLDER, 'index.html')) ? readFileSync(join(FOLDER, 'index.html'), 'utf8') : null;
  await app.register(async (ui) => {
    ui.addHook('onRoute', (route) => {
      route.config = { ...route.config, open: true };
      route.schema = { ...route.schema, hide: true };
    });
    ui.addHook('onRequest', async (_request, reply) => void reply.header('x-content-type-options', 'nosniff'));
    if (index !== null) {
      await ui.register(files, {
        root: join(FOLDER, 'assets'),
        prefix: '/ui/assets/',
        wildcard: false,
        index: false,
        preCompressed: true,
        decorateReply: false,
        immutable: true,
        maxAge: '365d',
      });
    }
    // The reference of an artifact's API: its documents come with the session's token.
    for (const name of REFERENCE_FILES) {
      ui.get(`/ui/reference/${name}`, async (_request, reply) => {
        const file = await referenceFile(name);
        for (let i = 0; i < REFERENCE_HEADERS.length; i += 2) {
          reply.header(REFERENCE_HEADERS[i] ?? '', REFERENCE_HEADERS[i + 1]);
        }
        return reply.type(file?.type ?? '').send(file?.body);
      });
    }
    ui.get('/ui/assets/*', (request) => {
      throw ControlError.notFound(`"${request.url}"`);
    });
    ui.get('/', (_request, reply) => reply.redirect('/ui/', 302));
    for (const path of ['/ui', '/ui/*']) ui.get(path, (_request, reply) => page(reply, index));
  });
}

/** Sends the one page for every path below /ui; it shows the content for the path. */
function page(reply: FastifyReply, index: string | null): FastifyReply {
  if (index === null) {
    throw new ControlError(
      'unavailable',
      'the console has not been built: run npm run build, and start the server anew',
    );
  }
  const nonce = randomBytes(16).toString('base64');
  return reply
    .type('text/html; charset=utf-8')
    .headers({
      'cache-control': 'no-cache',
      'content-security-policy': policy(nonce),
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    })
    .send(index.replace('{{nonce}}', nonce));
}

/** Allows only our own sources and scripts; the nonce is for styles that the editor makes. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
