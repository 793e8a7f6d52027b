/** What is known of a request's tokens: for plugins behind it, the access log and the metrics. */
import { RequestSlot } from '../../capability/request-slot.ts';
import type { Exchange, RequestPart } from '../../exchange.ts';
import type { Usage } from './conversation/usage.ts';
import type { Provider } from './targets/targets.ts';

const slot = new RequestSlot<TokenCount>();

export class TokenCount implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #x: Exchange;
  readonly #provider: Provider;
  readonly #model: string;
  /** Null where the provider has counted nothing. */
  usage: Usage | null = null;

  constructor(x: Exchange, provider: Provider, model: string) {
    this.#x = x;
    this.#provider = provider;
    this.#model = model;
  }

  get logged(): string {
    const names = `,"ai_provider":"${this.#provider}","ai_model":${JSON.stringify(this.#model)}`;
    if (this.usage === null) return names;
    const { prompt, completion, cached, reasoning } = this.usage;
    return `${names},"ai_prompt_tokens":${prompt},"ai_completion_tokens":${completion},"ai_cached_tokens":${cached},"ai_reasoning_tokens":${reasoning}`;
  }

  finished(): void {}

  /** The provider answers; of a stream, `usage` is null until it has been counted (docs/reference/plugins.md#ai-context). */
  succeeded(usage: Usage | null): void {
    const x = this.#x;
    const context = x.context ?? new Map<string, string>();
    x.context = context;
    slot.set(x, this);
    context.set('ai.provider', this.#provider);
    context.set('ai.model', this.#model);
    this.usage = usage ?? this.usage;
    if (this.usage === null) return;
    context.set('ai.prompt_tokens', String(this.usage.prompt));
    context.set('ai.completion_tokens', String(this.usage.completion));
    context.set('ai.cached_tokens', String(this.usage.cached));
    context.set('ai.reasoning_tokens', String(this.usage.reasoning));
  }
}
