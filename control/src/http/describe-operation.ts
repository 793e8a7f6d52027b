/** Describes an operation for the OpenAPI document, in the form that @fastify/swagger takes. */
import type { TSchema } from 'typebox';
import { JSON_TYPE, PROBLEM_TYPE } from '../api/media-types.ts';
import type { Operation, OtherContent } from '../api/operation.ts';
import { PROBLEMS, type ProblemName } from '../errors.ts';

/** Parameters and bodies are the route's own, since it validates them. */
export function describeOperation(operation: Operation): object {
  const { tag, summary, description } = operation;
  return {
    tags: [tag],
    summary,
    ...(description ? { description } : {}),
    ...headersOf(operation),
    ...(operation.open ? { security: [] } : {}),
    response: responses(operation),
  };
}

/** Returns a reference to a named schema. */
export function reference(schema: TSchema): object {
  const { $id } = schema as { readonly $id?: string };
  return $id === undefined ? schema : { $ref: `${$id}#` };
}

/** Headers of the request; the code that uses them reads them. */
function headersOf({ etag, download, idempotent }: Operation): object {
  const properties = {
    ...(etag === 'write'
      ? {
          'if-match': { type: 'string', description: 'The ETag that was read: 412 if the resource has changed since.' },
        }
      : {}),
    ...(etag === 'read' || download
      ? {
          'if-none-match': {
            type: 'string',
            description: 'The ETag that the client has: 304 if the resource has not changed.',
          },
        }
      : {}),
    ...(download
      ? {
          range: { type: 'string', description: 'One range of bytes: 206. What cannot be told is answered whole.' },
          'if-range': {
            type: 'string',
            description: 'The ETag that the range belongs to: the whole content if it has changed.',
          },
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

function responses(operation: Operation): object {
  const { answers, query, body, form, etag, download, idempotent, open, problems: own = [] } = operation;
  const names = new Set<ProblemName>([
    ...EVERYWHERE,
    ...(open ? [] : WITH_CREDENTIALS),
    ...(query || body || form ? (['unprocessable'] as const) : []),
    ...(body || form ? (['unsupported-media-type', 'payload-too-large'] as const) : []),
    ...(etag === 'write' ? (['precondition-failed'] as const) : []),
    ...(download ? (['range-not-satisfiable'] as const) : []),
    ...(idempotent ? (['conflict', 'idempotency-key-reused'] as const) : []),
    ...own,
  ]);
  const problems = new Map<number, ProblemName[]>();
  for (const name of names) {
    const { status } = PROBLEMS[name];
    problems.set(status, [...(problems.get(status) ?? []), name]);
  }
  return Object.fromEntries([
    ...Object.entries(answers).map(([status, answer]) => [status, describeAnswer(answer)]),
    ...(etag === 'read' || download ? [[304, withoutBody('Not changed')]] : []),
    ...[...problems].map(([status, each]) => [
      status,
      {
        description: each.map((name) => PROBLEMS[name].title).join(', '),
        content: { [PROBLEM_TYPE]: { schema: { $ref: 'Problem#' } } },
      },
    ]),
  ]);
}

/** Returns a response without a body, in the form of @fastify/swagger. */
const withoutBody = (description: string) => ({ description, type: 'null' });

function describeAnswer(answer: TSchema | OtherContent): object {
  if ('types' in answer && 'description' in answer) {
    const { description, types } = answer as OtherContent;
    if (types.length === 0) return withoutBody(description);
    return { description, content: Object.fromEntries(types.map((type) => [type, { schema: {} }])) };
  }
  const { description = 'Success' } = answer as { readonly description?: string };
  return { description, content: { [JSON_TYPE]: { schema: reference(answer as TSchema) } } };
}
