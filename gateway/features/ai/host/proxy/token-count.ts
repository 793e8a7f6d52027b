/** Token counts of a request: for later plugins, the access log and the metrics. */

import { type Exchange, type RequestPart, RequestSlot } from '../../../kit.ts';
import { UNCOUNTED, type Usage } from './conversation/usage.ts';
import type { Provider } from './targets/provider.ts';

const slot = new RequestSlot<TokenCount>();

/**
 * How far an attempt at a provider has come: `pending` says that it has not answered, `answered` that its answer has
 * begun, `complete` that it is whole.
 */
export type AttemptOutcome = 'pending' | 'failed' | 'answered' | 'complete';

/** Tokens that a request has cost. */
export interface SpentTokens {
  /** `provider_chat`, …; empty if another dispatcher than ai-proxy has answered. */
  readonly provider: string;
  readonly model: string;
  readonly prompt: number;
  readonly completion: number;
  /** Prompt tokens that the provider had in its cache. */
  readonly cached: number;
  /** Prompt tokens that it has written to its cache, and of these the ones that it keeps for an hour. Default: 0. */
  readonly written?: number;
  readonly writtenLong?: number;
  /** Audio tokens of the prompt and of the completion, of realtime sessions. Default: 0. */
  readonly promptAudio?: number;
  readonly completionAudio?: number;
}

export class TokenCount implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #exchange: Exchange;
  readonly provider: Provider;
  readonly model: string;
  outcome: AttemptOutcome = 'pending';
  /** Null if the provider has counted nothing. */
  usage: Usage | null = null;

  private constructor(exchange: Exchange, provider: Provider, model: string) {
    this.#exchange = exchange;
    this.provider = provider;
    this.model = model;
  }

  /** The provider is asked now. */
  static begin(exchange: Exchange, provider: Provider, model: string): TokenCount {
    const count = new TokenCount(exchange, provider, model);
    slot.set(exchange, count);
    return count;
  }

  /** Returns the count of the last attempt; null if no provider was asked. */
  static of(exchange: Exchange): TokenCount | null {
    return slot.of(exchange);
  }

  get logged(): string {
    if (this.outcome === 'pending' || this.outcome === 'failed') return '';
    const names = `,"ai_provider":"${this.provider}","ai_model":${JSON.stringify(this.model)}`;
    if (this.usage === null) return names;
    const { prompt, completion, cached, reasoning } = this.usage;
    return `${names},"ai_prompt_tokens":${prompt},"ai_completion_tokens":${completion},"ai_cached_tokens":${cached},"ai_reasoning_tokens":${reasoning}`;
  }

  finished(): void {}

  /** The provider does not answer, or refuses. */
  failed(): void {
    this.outcome = 'failed';
  }

  /** The answer has come to its end. */
  completed(): void {
    this.outcome = 'complete';
  }

  /** Adds the usage of one of several responses to one request, once it is over. */
  add({ prompt, completion, cached, reasoning }: Usage): void {
    const before = this.usage ?? UNCOUNTED;
    this.succeeded({
      prompt: before.prompt + prompt,
      completion: before.completion + completion,
      cached: before.cached + cached,
      reasoning: before.reasoning + reasoning,
    });
  }

  /** The provider answers; of a stream, `usage` is null until it has been counted (docs/reference/plugins.md#ai-context). */
  succeeded(usage: Usage | null): void {
    const exchange = this.#exchange;
    const context = exchange.context ?? new Map<string, string>();
    exchange.context = context;
    this.outcome = 'answered';
    context.set('ai.provider', this.provider);
    context.set('ai.model', this.model);
    this.usage = usage ?? this.usage;
    if (this.usage === null) return;
    context.set('ai.prompt_tokens', String(this.usage.prompt));
    context.set('ai.completion_tokens', String(this.usage.completion));
    context.set('ai.cached_tokens', String(this.usage.cached));
    context.set('ai.reasoning_tokens', String(this.usage.reasoning));
  }
}
