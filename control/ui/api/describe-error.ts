/** What people are told of an error. */
import { ApiError } from '../../src/client/api-error.ts';
import type { Diagnostic } from './types.ts';

/** One of a problem's `errors`: a fault of a field, or a diagnostic of a document. */
export type Fault = Partial<Diagnostic> & { readonly message: string };

export interface ErrorDescription {
  readonly title: string;
  readonly detail: string;
  readonly faults: readonly Fault[];
  /** What to look for in the server's log; null for what is not the server's fault. */
  readonly requestId: string | null;
}

export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof ApiError)) {
    const detail = error instanceof Error ? error.message : String(error);
    return { title: 'The console failed', detail, faults: [], requestId: null };
  }
  const { status, problem, message } = error;
  if (status === 0) {
    const detail = 'the control plane does not answer: it may be restarting, or the network is away. Try again.';
    return { title: 'No answer', detail, faults: [], requestId: null };
  }
  return {
    title: problem?.title ?? `HTTP ${status}`,
    detail: message,
    faults: faultsOf(error),
    // Of what the caller did, the document says enough.
    requestId: status >= 500 ? (problem?.request_id ?? null) : null,
  };
}

/** None where the error has no problem document. */
export function faultsOf(error: unknown): readonly Fault[] {
  return error instanceof ApiError ? (error.problem?.errors ?? []).filter(isFault) : [];
}

const isFault = (value: Readonly<Record<string, unknown>>): value is Fault => typeof value['message'] === 'string';
