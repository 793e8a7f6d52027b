/**
 * Informational responses (1xx) of one exchange: a server that sends them without end would be read for as long as the
 * exchange may take (docs/decisions.md#informational-bounded).
 */
import type { Dispatcher } from 'undici';
import type { ParsedHeaders } from './call-headers.ts';
import { HttpCallError } from './http-call-error.ts';

/** Servers that work for an hour say so (102) now and then. */
const MOST_RESPONSES = 100;
const MOST_BYTES = 256 << 10;

export class InformationalLimit {
  #count = 0;
  #bytes = 0;

  /** Reports whether another one of so many bytes is one too many. */
  exceededBy(bytes: number): boolean {
    this.#bytes += bytes;
    return ++this.#count > MOST_RESPONSES || this.#bytes > MOST_BYTES;
  }
}

/** To be composed with the dispatcher of a program's own requests: a call that gets too many fails. */
export function limitInformational(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (options, handler) => dispatch(options, new LimitedHandler(handler));
}

type Handler = Required<Dispatcher.DispatchHandler>;

class LimitedHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #limit = new InformationalLimit();

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  onRequestStart(...given: Parameters<Handler['onRequestStart']>): void {
    this.#handler.onRequestStart?.(...given);
  }

  onRequestUpgrade(...given: Parameters<Handler['onRequestUpgrade']>): void {
    this.#handler.onRequestUpgrade?.(...given);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: ParsedHeaders,
    message?: string,
  ): void {
    if (status >= 200 || !this.#limit.exceededBy(bytesOf(headers))) {
      this.#handler.onResponseStart?.(controller, status, headers, message);
      return;
    }
    controller.abort(new HttpCallError('failed', 'the server sends informational responses without end'));
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.();
  }

  onBodySent(chunk: Buffer): void {
    this.#handler.onBodySent?.(chunk);
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.();
  }

  onResponseData(...given: Parameters<Handler['onResponseData']>): void {
    this.#handler.onResponseData?.(...given);
  }

  onResponseEnd(...given: Parameters<Handler['onResponseEnd']>): void {
    this.#handler.onResponseEnd?.(...given);
  }

  onResponseError(...given: Parameters<Handler['onResponseError']>): void {
    this.#handler.onResponseError?.(...given);
  }
}

function bytesOf(headers: ParsedHeaders): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value ?? ''].flat()) bytes += name.length + each.length;
  }
  return bytes;
}
