/** One operation of the REST API: what it takes, what it answers, who may call it. OpenAPI comes from the same words. */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Actor } from '../access/actor.ts';
import { ControlError, PROBLEMS, type ProblemName } from '../errors.ts';
import { idempotently } from './idempotency.ts';
import { JSON_REQUEST_TYPES, JSON_TYPE, MERGE_PATCH_TYPE, PROBLEM_TYPE } from './media-type.ts';

type Value<T> = T extends TSchema ? Static<T> : undefined;

/** A call of an operation, checked. */
export interface Call<P = undefined, Q = undefined, B = undefined> {
  readonly actor: Actor;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What an operation answers with besides JSON. */
export interface OtherContent {
  readonly description: string;
  /** Media types, such as `application/wasm`; none for an answer without a body. */
  readonly types: readonly string[];
}

export interface Operation<P, Q, B> {
  /** The library call and the command of the same name: `projects.create`. */
  readonly id: string;
  /** Heading in the documentation. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly method: HTTPMethods;
  /** As fastify has it: `/projects/:id`. */
  readonly url: string;
  readonly params?: P;
  readonly query?: Q;
  /** Of a JSON body. */
  readonly body?: B;
  /** The JSON body is a merge patch (RFC 7396). */
  readonly mergePatch?: boolean;
  /** Of a multipart form; the handler reads it. */
  readonly form?: TSchema;
  /** The answer of success by status: a schema of JSON, or something else. */
  readonly answers: { readonly [status: number]: TSchema | OtherContent };
  /** Besides those that every operation may have. */
  readonly problems?: readonly ProblemName[];
  /** The answer carries an ETag, and If-Match or If-None-Match are honoured. */
  readonly etag?: 'read' | 'write';
  /** The answer is a download (send-blob.ts): ETag, If-None-Match, Range and If-Range are honoured. */
  readonly download?: boolean;
  /**
   * A POST that may be repeated with the same Idempotency-Key: every one but those whose answer holds a secret, which
   * refuse the header. The handler of a form calls `idempotently` itself.
   */
  readonly idempotent?: boolean;
  /** A data-plane key is taken, too: as a viewer of its project (docs/decisions.md#open-endpoints). */
  readonly dataPlaneKey?: boolean;
  /** No credentials are asked for (docs/decisions.md#open-endpoints). */
  readonly open?: boolean;
  /** What is returned is the JSON of the first of `answers`, unless the handler has set another status or has sent. */
  handle(call: Call<Value<P>, Value<Q>, Value<B>>): unknown;
}

/** Named schemas stand for themselves by reference. */
function reference(schema: TSchema): object {
  const { $id } = schema as { readonly $id?: string };
  return $id === undefined ? schema : { $ref: `${$id}#` };
}

export function operation<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(app: FastifyInstance, given: Operation<P, Q, B>): void {
  const statuses = Object.keys(given.answers).map(Number);
  const [status = 200] = statuses;
  app.route({
    method: given.method,
    url: given.url,
    config: {
      operationId: given.id,
      open: given.open === true,
      idempotent: given.idempotent === true,
      dataPlaneKey: given.dataPlaneKey === true,
    },
    schema: {
      operationId: given.id,
      tags: [given.tag],
      summary: given.summary,
      ...(given.description ? { description: given.description } : {}),
      ...(given.params ? { params: given.params } : {}),
      ...(given.query ? { querystring: given.query } : {}),
      ...(given.body ? { body: { content: contents(bodyTypes(given.mergePatch), reference(given.body)) } } : {}),
      ...(given.form ? { consumes: ['multipart/form-data'], 'x-form': given.form } : {}),
      ...headersOf(given),
      ...(given.open ? { security: [] } : {}),
      response: responses(given),
    },
    ...(given.body ? { preValidation: hasBody(bodyTypes(given.mergePatch)) } : {}),
    handler: async (request, reply) => {
      reply.status(status);
      if (given.method === 'POST' && !given.idempotent) mustHaveNoKey(request);
      const call = {
        actor: request.actor,
        params: request.params,
        query: request.query,
        body: request.body,
        request,
        reply,
      } as Call<Value<P>, Value<Q>, Value<B>>;
      const answer =
        given.idempotent && !given.form
          ? await idempotently(call, JSON.stringify(request.body ?? null), () => given.handle(call))
          : await given.handle(call);
      // A stream that the handler sent may have been cut off by its client, and is then not known as sent.
      if (reply.sent || reply.raw.headersSent || reply.raw.destroyed || answer === reply) return reply;
      if (answer === undefined) return reply.send();
      if (reply.getHeader('content-type') === undefined) reply.type(JSON_TYPE);
      // As a string of its own: fastify would add a charset, which JSON has not.
      return reply.serializer(asJson).send(answer);
    },
  });
}

/** Fastify validates a body only where there is one, and only of the types that the operation names. */
const hasBody = (types: readonly string[]) => async (request: FastifyRequest) => {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (request.body === undefined) throw new ControlError('bad-request', `send a body as ${types[0]}`);
  if (types.includes(type.trim().toLowerCase())) return;
  throw new ControlError('unsupported-media-type', `send the body as ${types.join(' or ')}, not as "${type}"`);
};

/** Who sends a key counts on repeating the request; repeated, it would make another secret. */
function mustHaveNoKey({ headers }: FastifyRequest): void {
  if (headers['idempotency-key'] === undefined) return;
  const detail =
    'this answer holds a secret, which is not kept: send it without Idempotency-Key, and revoke what you did not see';
  throw new ControlError('bad-request', detail);
}

const asJson = (answer: unknown): string => JSON.stringify(answer);

function bodyTypes(mergePatch: boolean | undefined): readonly string[] {
  return mergePatch ? [MERGE_PATCH_TYPE, ...JSON_REQUEST_TYPES] : JSON_REQUEST_TYPES;
}

function contents(types: readonly string[], schema: object): Record<string, { schema: object }> {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

/** Of the request, for the description; they are read where they matter. */
function headersOf({
  etag,
  download,
  idempotent,
}: Pick<Operation<never, never, never>, 'etag' | 'download' | 'idempotent'>): object {
  const properties = {
    ...(etag === 'write'
      ? { 'if-match': { type: 'string', description: 'The ETag that was read: 412 where it has changed since.' } }
      : {}),
    ...(etag === 'read' || download
      ? { 'if-none-match': { type: 'string', description: 'The ETag that is known: 304 where it has not changed.' } }
      : {}),
    ...(download
      ? {
          range: { type: 'string', description: 'One range of bytes: 206. What cannot be told is answered whole.' },
          'if-range': { type: 'string', description: 'The ETag that the range is of: the whole where it has changed.' },
        }
      : {}),
    ...(idempotent
      ? {
          'idempotency-key': {
            type: 'string',
            minLength: 1,
            maxLength: 255,
            pattern: '^[\\x21-\\x7e]+$',
            description: 'A request with the same key and body is answered as the first was, and does nothing again.',
          },
        }
      : {}),
  };
  return Object.keys(properties).length > 0 ? { headers: { type: 'object', properties } } : {};
}

const EVERYWHERE: readonly ProblemName[] = ['bad-request', 'internal-error', 'unavailable'];
const WITH_CREDENTIALS: readonly ProblemName[] = ['unauthorized', 'forbidden'];

function responses(given: Omit<Operation<unknown, unknown, TSchema | undefined>, 'handle'>): object {
  const names = new Set<ProblemName>([
    ...EVERYWHERE,
    ...(given.open ? [] : WITH_CREDENTIALS),
    ...(given.query || given.body || given.form ? (['unprocessable'] as const) : []),
    ...(given.body ? (['unsupported-media-type', 'payload-too-large'] as const) : []),
    ...(given.form ? (['unsupported-media-type', 'payload-too-large'] as const) : []),
    ...(given.etag === 'write' ? (['precondition-failed'] as const) : []),
    ...(given.download ? (['range-not-satisfiable'] as const) : []),
    ...(given.idempotent ? (['conflict', 'idempotency-key-reused'] as const) : []),
    ...(given.problems ?? []),
  ]);
  const problems = new Map<number, ProblemName[]>();
  for (const name of names) {
    const { status } = PROBLEMS[name];
    problems.set(status, [...(problems.get(status) ?? []), name]);
  }
  return Object.fromEntries([
    ...Object.entries(given.answers).map(([status, answer]) => [status, describeAnswer(answer)]),
    ...(given.etag === 'read' || given.download ? [[304, withoutBody('Not changed')]] : []),
    ...[...problems].map(([status, each]) => [
      status,
      {
        description: each.map((name) => PROBLEMS[name].title).join(', '),
        content: contents([PROBLEM_TYPE], { $ref: 'Problem#' }),
      },
    ]),
  ]);
}

/** As @fastify/swagger is told of a response that has none. */
const withoutBody = (description: string) => ({ description, type: 'null' });

function describeAnswer(answer: TSchema | OtherContent): object {
  if ('types' in answer && 'description' in answer) {
    const { description, types } = answer as OtherContent;
    return types.length === 0 ? withoutBody(description) : { description, content: contents(types, {}) };
  }
  const { description } = answer as { readonly description?: string };
  return { description: description ?? 'Success', content: contents([JSON_TYPE], reference(answer as TSchema)) };
}
