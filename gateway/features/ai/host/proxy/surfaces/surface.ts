/** The translation of requests and answers between a surface and a provider. */

import type { HeaderList, Obj, ServerSentEvent } from '../../../../kit.ts';
import type { ProviderError } from '../conversation/provider-failure.ts';
import type { Usage } from '../conversation/usage.ts';
import type { Provider } from '../targets/provider.ts';
import type { AiSettings } from '../targets/settings.ts';

/** The request as a client sent it. */
export interface SurfaceRequest {
  readonly body: Uint8Array;
  readonly parsed: Obj;
  readonly model: string;
  readonly stream: boolean;
  /** `anthropic-beta`, if the description of the API has that header; otherwise null. */
  readonly beta: string | null;
}

/** A whole answer, as the client gets it. */
interface WholeAnswer {
  readonly body: Uint8Array | string;
  /** Null if the provider has counted nothing. */
  readonly usage: Usage | null;
}

/** An answer that streams. */
export interface StreamedAnswer {
  /** An event of the protocol has come: until then, another provider may answer. */
  readonly begun: boolean;
  /** Tokens counted so far. */
  readonly usage: Usage | null;
  /** Returns the client's bytes for an event. Throws ProviderFailure or ReportedError. */
  push(event: ServerSentEvent): Uint8Array | string;
  /**
   * Ends the stream after the provider's last event; `rest` follows that event. Throws ProviderFailure if the stream is
   * incomplete.
   */
  end(rest: string): Uint8Array | string;
  /** Returns the event that ends a failed stream. */
  error(error: ProviderError): Uint8Array | string;
}

/**
 * Warnings to the client in its answer: `store` has no effect; items of reasoning, an effort, or cache marks were left
 * out.
 */
export type Warning = 'store' | 'reasoning' | 'effort' | 'cache';

/** A request in the protocol of a provider, and how its answer becomes the surface's. */
export interface Translation {
  /** Path below the base URL and its version. */
  readonly path: string;
  readonly body: Uint8Array | string;
  readonly warnings: readonly Warning[];
  /** Headers beside those that every provider gets. Default: none. */
  readonly headers?: HeaderList;
  /** `value`: the answer's body, `bytes` as it came. Throws ProviderFailure if it is malformed. */
  whole(value: unknown, bytes: Uint8Array): WholeAnswer;
  /** Returns the error for a status from 400 to 499. Null: as the provider sent it. */
  error(value: unknown, status: number): object | null;
  streamed(): StreamedAnswer;
}

export interface Surface {
  /** Throws AiRefusal if the provider cannot be asked for it. */
  translate(request: SurfaceRequest, provider: Provider, settings: AiSettings): Translation;
  /** A provider's error, as the body of an answer. */
  error(error: ProviderError): object;
}
