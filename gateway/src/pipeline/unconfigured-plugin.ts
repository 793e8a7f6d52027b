/**
 * The dispatcher of an operation with an unresolved config, in `gw dev` (docs/decisions.md#dev-secrets): the operation
 * answers with a problem, and everything else is served.
 */
import type { ArtifactPlugin } from '../artifact/format.ts';
import type { Exchange } from '../exchange.ts';
import { problem } from '../problems.ts';
import { ANSWERED, type BoundPlugin, type Outcome } from '../wasm/call/plugin.ts';

export class UnconfiguredPlugin implements BoundPlugin {
  readonly name: string;
  readonly plugin: ArtifactPlugin;
  readonly hasRequestHook = false;
  readonly hasResponseHook = false;
  readonly hasRequestChunks = false;
  readonly hasResponseChunks = false;
  readonly buffersResponse = false;
  readonly problemForm = null;
  readonly #reason: string;

  /** `plugin`: the dispatcher of the operation. `reason` names the reference, never a value. */
  constructor(plugin: ArtifactPlugin, reason: string) {
    this.name = plugin.name;
    this.plugin = plugin;
    this.#reason = reason;
  }

  dispatch(exchange: Exchange): Outcome {
    const detail = `A plugin of this operation is not configured: ${this.#reason}.`;
    exchange.answer = { problem: problem('not-configured', detail) };
    return ANSWERED;
  }

  onRequest(exchange: Exchange): Outcome {
    return this.dispatch(exchange);
  }

  onResponse(exchange: Exchange): Outcome {
    return this.dispatch(exchange);
  }

  requestChunk(): Promise<never> {
    return this.#never();
  }

  requestEnd(): Promise<never> {
    return this.#never();
  }

  responseChunk(): Promise<never> {
    return this.#never();
  }

  responseEnd(): Promise<never> {
    return this.#never();
  }

  close(): void {}

  #never(): Promise<never> {
    return Promise.reject(new Error(`plugin ${this.name} has no chunks: ${this.#reason}`));
  }
}
