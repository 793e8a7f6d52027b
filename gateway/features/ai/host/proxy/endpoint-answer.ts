/** Results of an attempt at an endpoint, and its answer as they need it. */

import { type HeaderList, type Holding, HttpCallError, type HttpStream, readWhole } from '../../../kit.ts';
import type { EndpointTarget } from './attempt-context.ts';
import { ProviderFailure } from './conversation/provider-failure.ts';
import { passedHeaders, withRetryAfter } from './provider-headers.ts';

/** Longest error of a provider that is read, in bytes; longer bodies are ignored. */
const MAX_ERROR = 1 << 20;
/** Status of a provider that has not answered. */
export const NO_ANSWER = 502;

/** A provider's refusal of the request, as the client gets it. */
export interface ProviderRefusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array | string;
}

export type AttemptResult =
  /** The client has an answer, or has left. */
  | { readonly type: 'answered' }
  | { readonly type: 'refused'; readonly refusal: ProviderRefusal }
  /** The endpoint answered 429, and the request goes on to another one; nothing was sent to the client. */
  | { readonly type: 'limited' }
  /** Nothing was sent to the client. */
  | { readonly type: 'failed'; readonly failure: ProviderFailure }
  /** The answer broke off after its head. */
  | { readonly type: 'broken'; readonly failure: ProviderFailure };

export const ANSWERED: AttemptResult = { type: 'answered' };
export const LIMITED: AttemptResult = { type: 'limited' };

export function failed(failure: ProviderFailure): AttemptResult {
  return { type: 'failed', failure };
}

/** Returns the provider's failure. Rethrows errors that do not come from the provider. */
export function failureOf(error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  if (error instanceof HttpCallError)
    return new ProviderFailure(error.message, error.failure === 'timeout' ? 504 : 502);
  throw error;
}

/** The head of an answer; `cancel` or `holding`: ends it unread. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: HeaderList;
  readonly holding?: Holding;
  cancel?(): void;
}

export function errorBody({ body }: HttpStream): Promise<Uint8Array> {
  return readWhole(body, MAX_ERROR, () => new ProviderFailure(`its error has more than ${MAX_ERROR} bytes`));
}

/** `error`: for the client, in the form of its surface; null: `body` as it came. */
export function refusalByProvider(
  { status, headers }: AnswerHead,
  { tries }: EndpointTarget,
  body: Uint8Array | string,
  error: object | null,
): AttemptResult {
  const passed = passedHeaders(headers, 'application/json', error === null);
  const seconds = status === 429 && tries !== null ? tries.retryAfter : null;
  return {
    type: 'refused',
    refusal: {
      status,
      headers: seconds === null ? passed : withRetryAfter(passed, seconds),
      body: error === null ? body : JSON.stringify(error),
    },
  };
}
