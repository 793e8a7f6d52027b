/** A provider that has not answered, or not well. */

/** An error as a provider reports it. */
export interface ProviderError {
  /** As HTTP has it. */
  readonly status: number;
  readonly message: string;
  /** Code as the provider names it; null if it names none. */
  readonly code: string | null;
}

/** Another target may do better: no connection, 5xx, no valid answer. Its message is for the log. */
export class ProviderFailure extends Error {
  /** Status of the answer; 502 without an answer. */
  readonly status: number;
  /** Seconds until it may be asked again; null if unknown. */
  readonly retryAfter: number | null;

  constructor(message: string, status = 502, retryAfter: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Thrown if a stream ends before its answer has. */
export function incompleteStream(): ProviderFailure {
  return new ProviderFailure('its stream ended before its answer was whole');
}

/** The provider reports an error under a status that says success: in place of an answer, or within its stream. */
export class ReportedError extends Error {
  readonly error: ProviderError;

  constructor(error: ProviderError) {
    super(error.message);
    this.error = error;
  }
}
