/** Problem documents (RFC 9457; docs/reference/control-plane.md#problems), rendered in this one place. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { PROBLEM_TYPE } from '../api/media-types.ts';
import { isDiskFull, isTransient } from '../db/transient.ts';
import { ControlError, PROBLEMS, type ProblemName, RequestEnded } from '../errors.ts';
import { validationProblem } from './validation.ts';

/** Body of every error response. */
export const Problem = Type.Object(
  {
    type: Type.String({
      enum: Object.keys(PROBLEMS).map((name) => `urn:gw:error:${name}`),
      description: 'Which error it is.',
    }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'Reason for the refusal, and what to do.' }),
    request_id: Type.String({ description: 'As in `x-request-id`: what to look for in the log.' }),
    errors: Type.Optional(
      Type.Array(Type.Unsafe<object>({ type: 'object', description: 'The fault and its place.' }), {
        description: 'Each fault, if several are possible.',
      }),
    ),
  },
  { $id: 'Problem', description: 'An error (RFC 9457).' },
);

/** Codes of errors that fastify and its plugins raise by themselves. */
const RAISED: Readonly<Record<string, { readonly problem: ProblemName; readonly detail?: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { problem: 'unsupported-media-type' },
  FST_INVALID_MULTIPART_CONTENT_TYPE: {
    problem: 'unsupported-media-type',
    detail: 'send the form as multipart/form-data',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: { problem: 'payload-too-large' },
  FST_REQ_FILE_TOO_LARGE: { problem: 'payload-too-large' },
  FST_FILES_LIMIT: { problem: 'payload-too-large', detail: 'the form has more than one file' },
  FST_FIELDS_LIMIT: { problem: 'payload-too-large', detail: 'the form has too many fields' },
  FST_PARTS_LIMIT: { problem: 'payload-too-large', detail: 'the form has too many parts' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { problem: 'bad-request', detail: 'the body is empty, but must be JSON' },
  FST_ERR_CTP_INVALID_JSON_BODY: { problem: 'bad-request', detail: 'the body is not valid JSON' },
};

const CHALLENGE = 'Bearer realm="gw-control"';

export function controlErrorOf(error: unknown): ControlError {
  if (error instanceof ControlError) return error;
  if (isDiskFull(error)) {
    const detail = 'the disk of the database is full: writes fail until it has room, and reads work';
    return new ControlError('insufficient-storage', detail, {}, { cause: error });
  }
  if (isTransient(error)) {
    return new ControlError(
      'unavailable',
      'the database does not answer at the moment: try again shortly',
      {},
      { cause: error },
    );
  }
  const raised = error as Partial<FastifyError>;
  if (raised.validation) return validationProblem(raised.validation, raised.validationContext);
  const known = RAISED[raised.code ?? ''];
  if (known) return new ControlError(known.problem, known.detail ?? raised.message ?? '', {}, { cause: error });
  const status = raised.statusCode ?? 500;
  if (status >= 400 && status < 500) return new ControlError('bad-request', raised.message ?? '', {}, { cause: error });
  return new ControlError(
    'internal-error',
    'the server failed; its log says more under the request_id',
    {},
    { cause: error },
  );
}

/** RFC 6750, section 3: an error code only if the request had credentials. */
/** Browsers prompt their user only for Basic. */
const BASIC_CHALLENGE = 'Basic realm="gw-control: any name, and a token as the password", charset="UTF-8"';

function challengeTo({ headers: { authorization }, routeOptions: { config } }: FastifyRequest): string | string[] {
  const bearer = authorization === undefined ? CHALLENGE : `${CHALLENGE}, error="invalid_token"`;
  // One line each: browsers read only the first challenge of a line.
  return config.browsable ? [BASIC_CHALLENGE, bearer] : bearer;
}

/** Answers with the problem document of the error, and logs the server's own faults. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = controlErrorOf(error);
  const { status, title } = PROBLEMS[failure.problem];
  if (status >= 500) request.log.error({ err: failure.cause ?? failure }, failure.message);
  if (status === 401) reply.header('www-authenticate', challengeTo(request));
  if (status === 426) reply.header('upgrade', 'websocket').header('connection', 'upgrade');
  if (status === 503) reply.header('retry-after', '5');
  // The rest of the request is not read.
  if (failure instanceof RequestEnded) reply.header('connection', 'close');
  return reply
    .code(status)
    .type(PROBLEM_TYPE)
    .serializer((problem: object) => JSON.stringify(problem))
    .send({
      type: `urn:gw:error:${failure.problem}`,
      title,
      status,
      detail: failure.message,
      request_id: request.id,
      ...failure.extensions,
    });
}
