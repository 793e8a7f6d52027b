/** Serves operations of the REST API: one route for each value. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { JSON_REQUEST_TYPES, JSON_TYPE, MERGE_PATCH_TYPE } from '../api/media-types.ts';
import type { AnswerOf, Operation, OperationTable } from '../api/operation.ts';
import { ControlError } from '../errors.ts';
import type { Call } from './call.ts';
import { describeOperation, reference } from './describe-operation.ts';
import { ifMatch } from './etag.ts';
import { idempotently } from './idempotency.ts';
import { type Page, sendPage } from './pagination.ts';

/**
 * JSON of the answer, a page of it for a list, or the reply if the handler has sent it. The result of an operation
 * without a JSON answer is ignored.
 */
type Result<O> =
  AnswerOf<O> extends undefined
    ? unknown
    : AnswerOf<O> | (AnswerOf<O> extends readonly (infer T)[] ? Page<T> : never) | FastifyReply;

/**
 * A returned value is the first of `answers`, unless the handler sets another status or sends the reply itself;
 * idempotent operations may return the stored answer.
 */
export type Handlers<T extends OperationTable> = {
  readonly [Id in keyof T]: (call: Call<T[Id]>) => Result<T[Id]> | Promise<Result<T[Id]>>;
};

/** Operations with their handlers, once there is a `C` that they work on. */
export interface Resource<C> {
  readonly operations: OperationTable;
  serve(app: FastifyInstance, control: C): void;
}

export function resource<T extends OperationTable, C>(operations: T, make: (control: C) => Handlers<T>): Resource<C> {
  return {
    operations,
    serve(app, control) {
      const handlers = make(control);
      for (const [id, operation] of Object.entries(operations)) {
        // Handlers are typed by id, and routes are not.
        route(app, id, operation, handlers[id] as unknown as Handler);
      }
    },
  };
}

type Handler = (call: Call<unknown>) => unknown;

function route(app: FastifyInstance, id: string, operation: Operation, handle: Handler): void {
  const { method, path, params, query, body, form } = operation;
  const idempotent = operation.idempotent === true;
  const [status = 200] = Object.keys(operation.answers).map(Number);
  const isPaged = query !== undefined && 'cursor' in query.properties;
  const types = method === 'PATCH' ? [MERGE_PATCH_TYPE, ...JSON_REQUEST_TYPES] : JSON_REQUEST_TYPES;
  app.route({
    method,
    url: path.replaceAll(/\{([^}]*)\}/g, ':$1'),
    config: {
      operationId: id,
      open: operation.open === true,
      idempotent,
      dataPlaneKey: operation.dataPlaneKey === true,
    },
    schema: {
      operationId: id,
      ...describeOperation(operation),
      ...(params ? { params } : {}),
      ...(query ? { querystring: query } : {}),
      ...(body ? { body: { content: contents(types, body) } } : {}),
      ...(form ? { consumes: ['multipart/form-data'], 'x-form': form } : {}),
    },
    ...(body ? { preValidation: hasBody(types) } : {}),
    handler: async (request, reply) => {
      reply.status(status);
      if (method === 'POST' && !idempotent) mustHaveNoKey(request);
      if (method !== 'GET' && operation.etag !== 'write') mustMatchAny(request);
      const call = {
        actor: request.actor,
        params: request.params,
        query: request.query,
        body: request.body,
        request,
        reply,
      } as Call<unknown>;
      const answer =
        idempotent && !form
          ? await idempotently(call, JSON.stringify(request.body ?? null), () => handle(call))
          : await handle(call);
      // A stream that the handler sent may have been cut off by its client, and then does not count as sent.
      if (reply.sent || reply.raw.headersSent || reply.raw.destroyed || answer === reply) return reply;
      if (answer === undefined) return reply.send();
      if (reply.getHeader('content-type') === undefined) reply.type(JSON_TYPE);
      // As a string: fastify would add a charset, which JSON does not have.
      return reply.serializer(asJson).send(isPaged ? sendPage(request, reply, answer as Page<unknown>) : answer);
    },
  });
}

function contents(types: readonly string[], schema: TSchema): Record<string, { schema: object }> {
  return Object.fromEntries(types.map((type) => [type, { schema: reference(schema) }]));
}

/** Requires a body: Fastify validates a body only if there is one, and only of the types that the operation names. */
const hasBody = (types: readonly string[]) => async (request: FastifyRequest) => {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (request.body === undefined) throw new ControlError('bad-request', `send a body as ${types[0]}`);
  if (types.includes(type.trim().toLowerCase())) return;
  throw new ControlError('unsupported-media-type', `send the body as ${types.join(' or ')}, not as "${type}"`);
};

/** Throws if If-Match names a tag: a resource without an ETag matches no tag (RFC 9110, section 13.1.1). */
function mustMatchAny(request: FastifyRequest): void {
  const expected = ifMatch(request);
  if (expected === null || expected === '*') return;
  throw new ControlError(
    'precondition-failed',
    'this has no ETag, so that none can match: send the request without If-Match',
  );
}

/** Refuses an Idempotency-Key: its sender would repeat the request, which would create another secret. */
function mustHaveNoKey({ headers }: FastifyRequest): void {
  if (headers['idempotency-key'] === undefined) return;
  const detail =
    'this response contains a secret, which is not kept: send the request without Idempotency-Key, and revoke what you did not receive';
  throw new ControlError('bad-request', detail);
}

const asJson = (answer: unknown): string => JSON.stringify(answer);
