/** The REST server (docs/reference/control-plane.md#operations). */
import cors from '@fastify/cors';
import multipart from '@fastify/multipart';
import { parseInTurns } from '@gw/gateway/read-in-slices';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import type { TSchema } from 'typebox';
import type { Actor } from '../access/actor.ts';
import type { Authenticate } from '../access/authenticate.ts';
import { JSON_TYPE, MERGE_PATCH_TYPE } from '../api/media-types.ts';
import type { Context } from '../context.ts';
import type { Database } from '../db/database.ts';
import { ControlError } from '../errors.ts';
import type { RequestSpans } from '../telemetry/request-spans.ts';
import { observeRequests } from '../telemetry/requests.ts';
import { refuseClient } from './client-error.ts';
import { consoleRoutes } from './console.ts';
import { eventStreams } from './event-stream.ts';
import { limitIdleSockets } from './idle-sockets.ts';
import { describeApi } from './openapi.ts';
import { sendProblem } from './problem.ts';
import { mustBeStorable } from './storable.ts';
import type { ServerTls } from './tls.ts';
import { UploadQueue } from './upload-queue.ts';
import { validatorCompiler } from './validation.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; set before any handler runs. */
    actor: Actor;
  }
  interface FastifyInstance {
    readonly database: Database;
    readonly uploads: UploadQueue;
  }
  interface FastifyContextConfig {
    readonly operationId?: string;
    readonly open?: boolean;
    readonly idempotent?: boolean;
    readonly dataPlaneKey?: boolean;
    /** People open it in a browser: a token is taken as the password of HTTP Basic, too. */
    readonly browsable?: boolean;
  }
}

/** The operations that it serves. */
export interface RestApi {
  /** Schemas that the OpenAPI document names. */
  readonly schemas: readonly TSchema[];
  /** Adds a route for each operation. */
  serve(app: FastifyInstance): void;
}

export interface ServerOptions {
  /** Origins that browsers may call from (GW_CONTROL_ALLOWED_ORIGINS); empty: no cross-origin access. */
  readonly allowedOrigins: readonly string[];
  readonly authenticate: Authenticate;
  /** Null: tracing is off. Default: null. */
  readonly spans?: RequestSpans | null;
  /** Null: plain HTTP. Default: null. */
  readonly tls?: Pick<ServerTls, 'factory'> | null;
  /** The server is about to stop: clients are to connect elsewhere. */
  readonly draining?: () => boolean;
}

/** Milliseconds for a request to arrive, its body included: a slow client does not hold its connection for ever. */
export const REQUEST_TIMEOUT_MS = 300_000;
/** Milliseconds for its head. */
const HEADERS_TIMEOUT_MS = 15_000;
/** Bytes of a JSON body. */
const MAX_JSON = 1 << 20;

export async function createServer(
  { db, metrics, log: logger }: Context,
  api: RestApi,
  options: ServerOptions,
): Promise<FastifyInstance> {
  const log: FastifyBaseLogger = logger;
  const app = Fastify({
    loggerInstance: log,
    bodyLimit: MAX_JSON,
    requestTimeout: REQUEST_TIMEOUT_MS,
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 300 },
    // Requests on a connection that is still open are answered, and then it closes.
    return503OnClosing: false,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    exposeHeadRoutes: true,
    ...(options.tls ? { serverFactory: options.tls.factory } : {}),
    clientErrorHandler: refuseClient,
  });
  app.server.headersTimeout = HEADERS_TIMEOUT_MS;
  limitIdleSockets(app.server);
  parseInTurns(app.server, options.tls !== undefined && options.tls !== null);
  for (const schema of api.schemas) app.addSchema(schema);
  app.setValidatorCompiler(validatorCompiler(api.schemas));
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler((error, request, reply) => {
    // For a request without a route, that matters more than fastify's other findings.
    const isRouted = request.routeOptions.url !== undefined;
    return sendProblem(isRouted ? error : notRouted(app, request, reply), request, reply);
  });
  app.setNotFoundHandler((request, reply) => sendProblem(notRouted(app, request, reply), request, reply));
  for (const type of [JSON_TYPE, MERGE_PATCH_TYPE]) {
    app.addContentTypeParser(type, { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'));
  }
  // Bodies are JSON: fastify would pass text to the schema.
  app.removeContentTypeParser('text/plain');
  app.decorate('database', db);
  app.decorate('uploads', new UploadQueue());
  app.decorateRequest('actor');
  observeRequests(app, metrics, options.spans ?? null);
  await app.register(cors, {
    origin: [...options.allowedOrigins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['etag', 'idempotency-replayed', 'link', 'location', 'x-request-id'],
    maxAge: 600,
  });
  await app.register(multipart, { limits: { files: 1, fields: 20, fieldSize: MAX_JSON, parts: 21 } });
  eventStreams(app);
  await describeApi(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    if (options.draining?.()) reply.header('connection', 'close');
    if (request.routeOptions.config.open || request.routeOptions.url === undefined) return;
    request.actor = await options.authenticate(request, reply);
  });
  app.addHook('preValidation', mustBeStorable);
  await consoleRoutes(app);
  await app.register(async (routes) => {
    api.serve(routes);
    dataPlanesOnly(routes);
  });
  return app;
}

/**
 * Upgrades are the channel's, and never come here: data planes have keys, and send them there
 * (docs/reference/control-plane.md#open-endpoints).
 */
function dataPlanesOnly(app: FastifyInstance): void {
  app.get('/ws/data-plane', { schema: { hide: true }, config: { open: true } }, () => {
    throw new ControlError(
      'upgrade-required',
      'this is for data planes: connect by WebSocket (gw serve --control-plane)',
    );
  });
}

/** Answers 405 if the path exists with other methods. */
function notRouted(app: FastifyInstance, request: FastifyRequest, reply: { header(n: string, v: string): unknown }) {
  const [path = '/'] = request.url.split('?');
  const methods = app.supportedMethods.filter((method) => app.findRoute({ method, url: path }) !== null);
  // OPTIONS is for every path, there or not.
  if (methods.every((method) => method === 'OPTIONS')) return ControlError.notFound(`"${path}"`);
  reply.header('allow', methods.join(', '));
  return new ControlError(
    'method-not-allowed',
    `${request.method} is not allowed for "${path}": use ${methods.join(', ')}`,
  );
}
