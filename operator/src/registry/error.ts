/** Why a registry request failed; the message has instructions, and never contains a credential. */
export type RegistryFailure =
  /** The name of the image, a Secret or an option is wrong: a retry does not help. */
  | 'invalid'
  /** 401 or 403. */
  | 'unauthorized'
  /** 404. */
  | 'not-found'
  /** The registry does not do this, such as deleting: 405, UNSUPPORTED. */
  | 'unsupported'
  /** Forbidden by the egress guard, or plaintext. */
  | 'refused'
  /** No answer, 429 or 5xx, after all attempts. */
  | 'unavailable'
  /** The content differs from its digest, size or type. */
  | 'corrupt'
  | 'too-large'
  /** Any other answer. */
  | 'failed';

export class RegistryError extends Error {
  readonly failure: RegistryFailure;
  /** Milliseconds, if an answer says when to retry. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: RegistryFailure, message: string, options?: ErrorOptions & { readonly retryAfterMs?: number }) {
    super(message, options);
    this.failure = failure;
    this.retryAfterMs = options?.retryAfterMs;
  }
}
