/** A module bound to one config, for calls of the pipeline. */
import type { ArtifactPlugin } from '../artifact/format.ts';
import { type Exchange, headerOf, Interrupted } from '../exchange.ts';
import type { Upstream } from '../hand-off.ts';
import { isJson, mediaTypeOf } from '../headers/media-type.ts';
import { problem } from '../problems.ts';
import type { Hook } from './binary/module-shapes.ts';
import type { Binding, BodyNeed } from './call/call.ts';
import type { PluginServices } from './call/capability.ts';
import type { ConfigView } from './call/config-view.ts';
import { Overloaded } from './call/failures.ts';
import { reasonOf } from './call/outcome.ts';
import {
  ANSWERED,
  type BindOptions,
  type BoundPlugin,
  type ChunkResult,
  type Outcome,
  type ProblemForm,
} from './call/plugin.ts';
import type { Instance } from './instance.ts';
import type { ModulePool } from './pool.ts';
import type { Snapshot } from './snapshot.ts';

/** A module's state for one config; shared by all bindings to equal configs. */
export interface Configured {
  readonly config: ConfigView;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly bound: readonly unknown[];
  readonly snapshot: Snapshot;
  /** `init` said that it needs no body of responses. */
  readonly passesResponse: boolean;
  /** `init` said which bodies of requests it needs. */
  readonly bodyNeed: BodyNeed;
  readonly problemForm: ProblemForm | null;
}

interface BindingOptions extends Required<BindOptions> {
  readonly cpuMs: number;
  readonly closed: () => void;
}

type Observers = { readonly [hook in Hook]: (seconds: number) => void };

export class ModuleBinding implements BoundPlugin {
  readonly name: string;
  readonly plugin: ArtifactPlugin;
  readonly hasRequestHook: boolean;
  readonly hasResponseHook: boolean;
  readonly hasRequestChunks: boolean;
  readonly hasResponseChunks: boolean;
  readonly buffersResponse: boolean;
  readonly problemForm: ProblemForm | null;
  readonly #pool: ModulePool;
  /** State that the next call begins with. */
  #snapshot: Snapshot;
  readonly #keepsMemory: boolean;
  readonly #bodyNeed: BodyNeed;
  readonly #binding: Binding;
  readonly #observers: Observers;
  readonly #hooks: ReadonlySet<Hook>;
  readonly #closed: () => void;

  constructor(
    plugin: ArtifactPlugin,
    hooks: ReadonlySet<Hook>,
    configured: Configured,
    pool: ModulePool,
    services: PluginServices,
    options: BindingOptions,
  ) {
    this.name = plugin.name;
    this.plugin = plugin;
    this.hasRequestHook = hooks.has('on_request');
    this.hasResponseHook = hooks.has('on_response');
    this.hasRequestChunks = hooks.has('on_request_chunk');
    this.hasResponseChunks = hooks.has('on_response_chunk');
    this.buffersResponse = plugin.capabilities.response_body === 'buffer' && !configured.passesResponse;
    this.problemForm = configured.problemForm;
    this.#hooks = hooks;
    this.#pool = pool;
    this.#snapshot = configured.snapshot;
    this.#keepsMemory = options.keepsMemory;
    this.#bodyNeed = configured.bodyNeed;
    this.#closed = options.closed;
    this.#binding = {
      name: plugin.name,
      authenticates: plugin.authenticates ?? false,
      config: configured.config,
      upstreams: configured.upstreams,
      services,
      bound: configured.bound,
      owner: this,
      cpuMs: options.cpuMs,
    };
    const observe = (hook: Hook) => (hooks.has(hook) ? services.observe(plugin.name, hook) : () => {});
    this.#observers = {
      init: observe('init'),
      on_request: observe('on_request'),
      on_response: observe('on_response'),
      dispatch: observe('dispatch'),
      on_request_chunk: observe('on_request_chunk'),
      on_request_end: observe('on_request_end'),
      on_response_chunk: observe('on_response_chunk'),
      on_response_end: observe('on_response_end'),
    };
  }

  onRequest(exchange: Exchange): Outcome | Promise<Outcome> {
    return this.#needsBody(exchange) ? this.#afterBody('on_request', exchange) : this.#run('on_request', exchange);
  }

  onResponse(exchange: Exchange): Outcome | Promise<Outcome> {
    return this.#run('on_response', exchange);
  }

  dispatch(exchange: Exchange): Outcome | Promise<Outcome> {
    return this.#needsBody(exchange) ? this.#afterBody('dispatch', exchange) : this.#run('dispatch', exchange);
  }

  requestChunk(exchange: Exchange, chunk: Uint8Array): Promise<ChunkResult> {
    return this.#pass('on_request_chunk', exchange, chunk);
  }

  requestEnd(exchange: Exchange): Promise<ChunkResult> {
    return this.#pass('on_request_end', exchange, null);
  }

  responseChunk(exchange: Exchange, chunk: Uint8Array): Promise<ChunkResult> {
    return this.#pass('on_response_chunk', exchange, chunk);
  }

  responseEnd(exchange: Exchange): Promise<ChunkResult> {
    return this.#pass('on_response_end', exchange, null);
  }

  close(): void {
    this.#closed();
  }

  #run(hook: Hook, exchange: Exchange): Outcome | Promise<Outcome> {
    if (this.#pool.mustWait) return this.#runLater(hook, exchange);
    let instance: Instance | undefined;
    try {
      instance = this.#pool.take(this.#snapshot, exchange);
    } catch (error) {
      return this.#refused(hook, exchange, error);
    }
    if (instance === undefined) return this.#runLater(hook, exchange);
    return this.#runOn(instance, hook, exchange);
  }

  #runOn(instance: Instance, hook: Hook, exchange: Exchange): Outcome | Promise<Outcome> {
    const outcome = instance.run(this.#binding, this.#snapshot, hook, exchange, this.#observers[hook]);
    return this.#keepsMemory ? this.#keep(instance, outcome) : outcome;
  }

  /** The instance is idle when its call has ended, and as that has left it until another takes it. */
  async #keep(instance: Instance, running: Outcome | Promise<Outcome>): Promise<Outcome> {
    const outcome = await running;
    this.#snapshot = instance.snapshot();
    return outcome;
  }

  #needsBody(exchange: Exchange): boolean {
    if (this.#bodyNeed === 'none' || exchange.bodyStream === null || exchange.body !== null) return false;
    if (typeof this.#bodyNeed === 'function') return this.#bodyNeed(exchange);
    return this.#bodyNeed === 'any' || isJson(mediaTypeOf(headerOf(exchange.headers, 'content-type')));
  }

  /** Clients take their time to send a body: no instance waits for that (docs/decisions.md#instances-do-not-wait). */
  async #afterBody(hook: Hook, exchange: Exchange): Promise<Outcome> {
    try {
      exchange.body ??= await exchange.readBody();
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      exchange.answer ??= { status: 499, body: null };
      return ANSWERED;
    }
    return this.#run(hook, exchange);
  }

  async #runLater(hook: Hook, exchange: Exchange): Promise<Outcome> {
    let instance: Instance;
    try {
      instance = await this.#pool.takeLater(this.#snapshot, exchange);
    } catch (error) {
      return this.#refused(hook, exchange, error);
    }
    return this.#runOn(instance, hook, exchange);
  }

  /** The call gets no instance: the client has gone, or the process is at its limits. */
  #refused(hook: Hook, exchange: Exchange, error: unknown): Outcome {
    if (error instanceof Interrupted) {
      exchange.answer ??= { status: 499, body: null };
      return ANSWERED;
    }
    exchange.decided(this.name, 'overloaded');
    this.#binding.services.log(
      error instanceof Overloaded ? 'warn' : 'error',
      this.name,
      `${hook} could not run: ${reasonOf(error)}`,
      exchange,
    );
    exchange.answer = { problem: problem('overloaded') };
    return ANSWERED;
  }

  async #pass(hook: Hook, exchange: Exchange, chunk: Uint8Array | null): Promise<ChunkResult> {
    if (!this.#hooks.has(hook)) return null;
    const instance = await this.#pool.takeLater(this.#snapshot, exchange);
    return instance.pass(this.#binding, this.#snapshot, hook, exchange, chunk, this.#observers[hook]);
  }
}
