/** Problem documents (RFC 9457) as the control plane sends them, and what else can go wrong with a request. */
import type { Diagnostic } from './types.ts';

/** One of `errors`: a fault of a field, or a diagnostic of a document. */
export type Fault = Partial<Diagnostic> & { readonly message: string };

export class ApiError extends Error {
  /** Of the HTTP answer; 0 where there was none. */
  readonly status: number;
  readonly title: string;
  readonly faults: readonly Fault[];
  /** What to look for in the server's log. */
  readonly requestId: string | null;

  constructor(status: number, title: string, detail: string, faults: readonly Fault[], requestId: string | null) {
    super(detail);
    this.status = status;
    this.title = title;
    this.faults = faults;
    this.requestId = requestId;
  }
}

/** The error of an answer that is none of success. */
export async function errorOf(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id');
  const body: unknown = await response.json().catch(() => null);
  const { title, detail, errors } = isObject(body) ? body : {};
  return new ApiError(
    response.status,
    typeof title === 'string' ? title : `HTTP ${response.status}`,
    typeof detail === 'string' ? detail : `the server answered ${response.status} without saying why`,
    Array.isArray(errors) ? errors.filter(isFault) : [],
    requestId,
  );
}

export function unreachable(): ApiError {
  const detail = 'the control plane does not answer: it may be restarting, or the network is away. Try again.';
  return new ApiError(0, 'No answer', detail, [], null);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isFault = (value: unknown): value is Fault => isObject(value) && typeof value['message'] === 'string';
