/**
 * Idempotency-Key on POST: a request that is repeated with its key has no further effect, and gets the first answer
 * again (draft-ietf-httpapi-idempotency-key-header), at any replica.
 *
 * Successes and refusals by the operation are stored for a day; failures of the server are not, and neither are
 * refusals before the operation began. Operations whose answer contains a secret take no key.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ControlError, type ProblemName } from '../errors.ts';
import type { Call } from './call.ts';
import { IdempotencyKey, type KeptAnswer } from './idempotency-key.ts';
import { controlErrorOf } from './problem.ts';

/** Milliseconds between signs of life of a request that takes long. */
const RENEW_MS = 20_000;
/** Headers of an answer that are kept. */
const KEPT_HEADERS = ['location', 'etag'] as const;
/** Refusals that depend on more than the request, and may not recur. */
const NOT_KEPT: ReadonlySet<ProblemName> = new Set(['unauthorized', 'forbidden', 'unavailable', 'internal-error']);

/**
 * Runs the operation, or repeats the stored answer if the request has an Idempotency-Key that was used before.
 *
 * `operation` calls this for JSON. Handlers of forms call it when they have read the form, and do nothing lasting
 * before. `fingerprint`: identifies the request beside method and URL: the JSON of the body; of a form its fields and
 * the sha256 of its files. A stored answer is a `T` of an earlier run. Throws 422 if the key belongs to another
 * request, 409 while that request runs.
 */
export async function idempotently<T>(
  { actor, request, reply }: Pick<Call, 'actor' | 'request' | 'reply'>,
  fingerprint: string,
  run: () => Promise<T> | T,
): Promise<T | FastifyReply> {
  const text = request.headers['idempotency-key'];
  if (typeof text !== 'string') return run();
  const key = new IdempotencyKey(request.server.database.kysely, actor.name, text);
  const claimed = await key.claim(fingerprintOf(request, fingerprint));
  if (claimed === 'under way') {
    reply.header('retry-after', '1');
    const detail = 'the first request with this Idempotency-Key is still in progress: retry in a moment';
    throw new ControlError('conflict', detail);
  }
  if (claimed !== 'mine') return replayed(claimed, reply) as T | FastifyReply;
  const renewing = setInterval(() => void key.renew().catch(() => {}), RENEW_MS).unref();
  try {
    const answer = await run();
    await keep(key, request, { status: reply.statusCode, headers: headersOf(reply), body: bodyOf(answer, reply) });
    return answer;
  } catch (error) {
    const failure = controlErrorOf(error);
    if (NOT_KEPT.has(failure.problem)) await key.release().catch(() => {});
    else await keep(key, request, { status: failure.status, headers: {}, body: refusalOf(failure) });
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

function fingerprintOf({ method, url }: FastifyRequest, rest: string): string {
  return createHash('sha256').update(`${method} ${url}\n`).update(rest).digest('hex');
}

/** Stores the answer. The operation is done: a failure here must not make it seem undone. */
async function keep(key: IdempotencyKey, request: FastifyRequest, answer: KeptAnswer): Promise<void> {
  try {
    await key.keep(answer);
  } catch (error) {
    request.log.warn({ err: error }, 'could not store a response for its Idempotency-Key');
  }
}

function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = reply.getHeader(name);
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

/** Returns null if the handler has sent an answer without a body. */
function bodyOf(answer: unknown, reply: FastifyReply): unknown {
  return answer === reply || answer === undefined ? null : answer;
}

interface Refusal {
  readonly problem: ProblemName;
  readonly detail: string;
  readonly extensions: Readonly<Record<string, unknown>>;
}

const refusalOf = ({ problem, message, extensions }: ControlError): Refusal => ({
  problem,
  detail: message,
  extensions,
});

function replayed({ status, headers, body }: KeptAnswer, reply: FastifyReply): unknown {
  reply.header('idempotency-replayed', 'true');
  if (status >= 400) {
    const { problem, detail, extensions } = body as Refusal;
    throw new ControlError(problem, detail, extensions);
  }
  reply.status(status).headers(headers);
  return body === null ? reply.send() : body;
}
