/** Every error that the control plane answers with (docs/reference/control-plane.md#problems): type, status, title. */

export const PROBLEMS = {
  'bad-request': { status: 400, title: 'Bad request' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'request-timeout': { status: 408, title: 'Request timeout' },
  conflict: { status: 409, title: 'Conflict' },
  'precondition-failed': { status: 412, title: 'Precondition failed' },
  'payload-too-large': { status: 413, title: 'Payload too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  'range-not-satisfiable': { status: 416, title: 'Range not satisfiable' },
  'spec-invalid': { status: 422, title: 'Spec validation failed' },
  'plugin-invalid': { status: 422, title: 'Plugin validation failed' },
  'artifact-invalid': { status: 422, title: 'Artifact validation failed' },
  'config-invalid': { status: 422, title: 'Plugin config validation failed' },
  /** Valid by its schema, but impossible to carry out. */
  unprocessable: { status: 422, title: 'Unprocessable' },
  'idempotency-key-reused': { status: 422, title: 'Idempotency key reused' },
  'internal-error': { status: 500, title: 'Internal error' },
  'upgrade-required': { status: 426, title: 'Upgrade required' },
  unavailable: { status: 503, title: 'Unavailable' },
  'insufficient-storage': { status: 507, title: 'Insufficient storage' },
} as const;

export type ProblemName = keyof typeof PROBLEMS;

/** One fault of a request, a document or a config. */
export interface ProblemError {
  /** Place: a JSON pointer into the body, or the name of a parameter or form field. */
  readonly pointer: string;
  readonly message: string;
}

export class ControlError extends Error {
  readonly problem: ProblemName;
  /** More members of the problem document, such as `errors`. */
  readonly extensions: Readonly<Record<string, unknown>>;

  /** `detail` has instructions for the caller, and contains no secret. */
  constructor(
    problem: ProblemName,
    detail: string,
    extensions: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(detail, options);
    this.problem = problem;
    this.extensions = extensions;
  }

  get status(): number {
    return PROBLEMS[this.problem].status;
  }

  /** `what` names the resource with its id (docs/reference/control-plane.md#problems): `project "3f…"`. */
  static notFound(what: string): ControlError {
    return new ControlError('not-found', `there is no ${what}`);
  }
}

/** The request ended early: the rest of it is not read, and its connection ends after the answer. */
export class RequestEnded extends ControlError {}
