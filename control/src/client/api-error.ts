/** Why a request did not succeed. */

/** A problem document (RFC 9457) of the control plane. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id?: string;
  readonly errors?: readonly Readonly<Record<string, unknown>>[];
}

/** An error answer, or a request without an answer. */
export class ApiError extends Error {
  /** Status of the HTTP answer; 0 without an answer. */
  readonly status: number;
  /** Null if the answer is not a problem: the server may not be a control plane. */
  readonly problem: Problem | null;

  constructor(message: string, status: number, problem: Problem | null = null, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.problem = problem;
  }
}

export async function errorOf(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  if (headers.get('content-type')?.startsWith('application/problem+json')) {
    const problem: Problem = JSON.parse(await response.text());
    return new ApiError(problem.detail, status, problem);
  }
  // The connection continues with the next request.
  await response.body?.cancel();
  return new ApiError(`the server answered ${status} without a problem document: is it gw-control?`, status);
}

/** Returns why there was no answer, from the cause of the error. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  if (cause instanceof Error) return 'code' in cause && cause.message === '' ? String(cause.code) : cause.message;
  return String(cause);
}
