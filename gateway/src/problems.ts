/**
 * Every problem document that the gateway or a built-in plugin sends (RFC 9457; docs/reference/gateway.md#problems,
 * docs/decisions.md#problem-types). Rendering is done here only; docs/problems.md is generated from the table.
 */

export interface ProblemType {
  readonly status: number;
  readonly title: string;
  /** When it is sent. */
  readonly when: string;
}

const table = {
  'validation-failed': {
    status: 400,
    title: 'Request validation failed',
    when: 'a parameter, the body, the `Last-Event-ID` of a stream, or a size limit does not hold; `graphql` refused the operation, or `ai-proxy` or a policy before it the request, and `code` says why',
  },
  'malformed-request': {
    status: 400,
    title: 'Malformed request',
    when: 'the request is not valid HTTP, or no valid handshake of a WebSocket',
  },
  unauthorized: { status: 401, title: 'Unauthorized', when: 'credentials are missing or not known' },
  'authentication-failed': { status: 401, title: 'Authentication failed', when: 'credentials were rejected' },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    when: 'the caller or its origin may not do this; the target of `ai-proxy` does not permit the model; `token-exchange` got no token for the caller, and `code` says why',
  },
  'ip-restricted': {
    status: 403,
    title: 'Forbidden',
    when: '`ip-restriction` refused the address; its `status` may be another',
  },
  'bot-detected': {
    status: 403,
    title: 'Forbidden',
    when: '`bot-detection` refused the `User-Agent`; its `status` may be another',
  },
  denied: {
    status: 403,
    title: 'Request denied',
    when: 'an expression of `cel` matched; its `status` may be another, and `code` says which rule',
  },
  'request-denied': {
    status: 403,
    title: 'Request denied',
    when: 'rules of `waf` refused the request or its response; the status may be another, as the rule has it',
  },
  'inspection-limit': {
    status: 400,
    title: 'Request too costly to inspect',
    when: '`waf` could not inspect the request within its limits',
  },
  'route-not-found': { status: 404, title: 'Not found', when: 'no operation has this path' },
  'not-found': {
    status: 404,
    title: 'Not found',
    when: '`ai-proxy` knows no file or batch of this id for the consumer, and `code` says which',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    when: 'the path has operations, but none with this method; `Allow` names those it has; `graphql` needs `POST`',
  },
  'request-timeout': { status: 408, title: 'Request timeout', when: 'the client sent its request too slowly' },
  'not-acceptable': {
    status: 406,
    title: 'Not acceptable',
    when: '`Accept` admits none of the content types that the operation answers with',
  },
  'request-in-progress': {
    status: 409,
    title: 'Conflict',
    when: 'the request with the same `Idempotency-Key` has not been answered yet',
  },
  'length-required': {
    status: 411,
    title: 'Length Required',
    when: '`object-store` cannot stream a body whose length the request does not announce',
  },
  'payload-too-large': {
    status: 413,
    title: 'Payload Too Large',
    when: 'a plugin refused the size of the body, or a broker that of the message',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    when: 'the operation does not accept this content type or content encoding',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'Unprocessable content',
    when: 'the `Idempotency-Key` was used for another request',
  },
  'upgrade-required': {
    status: 426,
    title: 'Upgrade required',
    when: 'the operation speaks WebSocket, and the request does not ask for it, or asks for another version; `Upgrade` and `Sec-WebSocket-Version` say what it speaks',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    when: 'a quota is used up, or requests of this client hold as many bytes of headers as the gateway admits',
  },
  'header-too-large': {
    status: 431,
    title: 'Request header fields too large',
    when: 'one header is larger than `--max-header-size`, or all together than `--max-header-bytes`',
  },
  'internal-error': { status: 500, title: 'Internal server error', when: 'the gateway failed; its log says how' },
  'plugin-failed': {
    status: 500,
    title: 'Plugin failed',
    when: 'a plugin trapped, or used up its CPU time or memory',
  },
  'not-implemented': {
    status: 501,
    title: 'Not implemented',
    when: 'an extended CONNECT (HTTP/2) asks for another protocol than WebSocket, or its dispatcher does not speak it. A plugin needs the whole body of a stream of events. `mock` found no value that the schema of its response admits (`errors`, in dev mode, points to that schema)',
  },
  'upstream-failed': {
    status: 502,
    title: 'Bad gateway',
    when: 'the upstream or broker could not be reached, or its answer (such as its handshake of a WebSocket) was not valid. A broker refused the message; a function of `function-url` failed, or its answer does not describe a response; no provider of `ai-proxy` answered; the answer to `token-exchange` holds no token that can be sent',
  },
  'response-invalid': {
    status: 502,
    title: 'Bad gateway',
    when: 'the response does not match the API description, and `x-gw-validate-response` is `enforce`',
  },
  'no-artifact': {
    status: 503,
    title: 'Service unavailable',
    when: 'the gateway waits for its first artifact from the control plane',
  },
  'not-configured': {
    status: 503,
    title: 'Service unavailable',
    when: 'in `gw dev`, a secret reference of the operation does not resolve, such as a variable that is not set; `detail` names it',
  },
  'upstream-unavailable': { status: 503, title: 'Service unavailable', when: 'the circuit breaker is open' },
  overloaded: {
    status: 503,
    title: 'Service unavailable',
    when: 'the gateway is at its limit of plugin instances, of buffered bytes, of messages that wait for a broker, of names that are looked up, or of clients of a stream',
  },
  'state-unavailable': {
    status: 503,
    title: 'Service unavailable',
    when: 'the state that pods share is unavailable, and a policy requires it',
  },
  'issuer-unavailable': {
    status: 503,
    title: 'Service unavailable',
    when: 'the issuer of tokens is unavailable, slow or returns invalid data, so it is unknown whether a token is valid, or `token-exchange` gets none for the upstream',
  },
  'ldap-unavailable': {
    status: 503,
    title: 'Service unavailable',
    when: '`ldap-auth` cannot query its directory, or may not in plaintext',
  },
  'loop-detected': {
    status: 508,
    title: 'Loop detected',
    when: 'the request has come through more than ten gateways: a plugin or an upstream leads back to its own gateway',
  },
  'upstream-timeout': {
    status: 504,
    title: 'Gateway timeout',
    when: 'the upstream did not answer, the broker acknowledge, or the authorization server of `token-exchange` issue a token, in time',
  },
} as const satisfies Record<string, ProblemType>;

export type ProblemName = keyof typeof table;
export const PROBLEMS: Readonly<Record<ProblemName, ProblemType>> = table;
export const PROBLEM_PREFIX = 'urn:gw:error:';

/** One finding of a validation: place, kind and reason; shown in dev mode only (docs/reference/gateway.md#problems). */
export interface ProblemError {
  /** Part of the request, or of a response that was withheld: `path`, `query`, `header`, `cookie` or `body`; `document`: the API description. */
  readonly in: string;
  /** Parameter name, or JSON pointer into the body or the document. */
  readonly field: string;
  readonly reason: string;
}

/** Returns where and why in one line, such as `query limit: must be <= 100`. */
export function findingLine({ in: part, field, reason }: ProblemError): string {
  return `${part} ${field}: ${reason}`;
}

/** Returns the name of a type of the gateway, such as `validation-failed`; any other type as it is. */
export function shortType(type: string): string {
  return type.startsWith(PROBLEM_PREFIX) ? type.slice(PROBLEM_PREFIX.length) : type;
}

export interface Problem {
  /** URN. */
  readonly type: string;
  /** `type` of the document, if the clients of a protocol need another one than the URN. */
  readonly writtenType?: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly errors?: readonly ProblemError[];
  /** Further members, such as `client_ip`. */
  readonly members?: { readonly [name: string]: unknown };
  /** Further members that are shown in dev mode only, as `errors` are. */
  readonly devMembers?: { readonly [name: string]: unknown };
  /** Headers that go with it, lower-case name and value in turn. */
  readonly headers?: readonly string[];
}

/** Returns the answer in place of a response that memory is lacking for. */
export function noRoomForResponse(): Problem {
  return problem('overloaded', 'The gateway has reached its limit of responses in memory. Try again.');
}

/** Detail of `overloaded` for a request that ended for others. */
export const GAVE_WAY = 'The gateway needs the memory that the request holds for other clients. Try again.';

export function problem(
  name: ProblemName,
  detail?: string,
  more: Pick<Problem, 'errors' | 'headers' | 'members' | 'devMembers'> = {},
): Problem {
  const { status, title } = table[name];
  return { type: PROBLEM_PREFIX + name, title, status, ...(detail === undefined ? {} : { detail }), ...more };
}

/** The document's JSON text. */
export function renderProblem({
  type,
  writtenType = type,
  title,
  status,
  detail,
  errors,
  members,
  devMembers,
}: Problem): string {
  return JSON.stringify({
    ...members,
    ...devMembers,
    type: writtenType,
    title,
    status,
    detail,
    ...(errors === undefined ? {} : { errors }),
  });
}
