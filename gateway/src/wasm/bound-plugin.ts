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

  onRequest(x: Exchange): Outcome | Promise<Outcome> {
    return this.#needsBody(x) ? this.#afterBody('on_request', x) : this.#run('on_request', x);
  }

  onResponse(x: Exchange): Outcome | Promise<Outcome> {
    return this.#run('on_response', x);
  }

  dispatch(x: Exchange): Outcome | Promise<Outcome> {
    return this.#needsBody(x) ? this.#afterBody('dispatch', x) : this.#run('dispatch', x);
  }

  requestChunk(x: Exchange, chunk: Uint8Array): Promise<ChunkResult> {
    return this.#pass('on_request_chunk', x, chunk);
  }

  requestEnd(x: Exchange): Promise<ChunkResult> {
    return this.#pass('on_request_end', x, null);
  }

  responseChunk(x: Exchange, chunk: Uint8Array): Promise<ChunkResult> {
    return this.#pass('on_response_chunk', x, chunk);
  }

  responseEnd(x: Exchange): Promise<ChunkResult> {
    return this.#pass('on_response_end', x, null);
  }

  close(): void {
    this.#closed();
  }

  #run(hook: Hook, x: Exchange): Outcome | Promise<Outcome> {
    if (this.#pool.mustWait) return this.#runLater(hook, x);
    let instance: Instance | undefined;
    try {
      instance = this.#pool.take(this.#snapshot, x);
    } catch (error) {
      return this.#refused(hook, x, error);
    }
    if (instance === undefined) return this.#runLater(hook, x);
    return this.#runOn(instance, hook, x);
  }

  #runOn(instance: Instance, hook: Hook, x: Exchange): Outcome | Promise<Outcome> {
    const outcome = instance.run(this.#binding, this.#snapshot, hook, x, this.#observers[hook]);
    return this.#keepsMemory ? this.#keep(instance, outcome) : outcome;
  }

  /** The instance is idle when its call has ended, and as that has left it until another takes it. */
  async #keep(instance: Instance, running: Outcome | Promise<Outcome>): Promise<Outcome> {
    const outcome = await running;
    this.#snapshot = instance.snapshot();
    return outcome;
  }

  #needsBody(x: Exchange): boolean {
    if (this.#bodyNeed === 'none' || x.bodyStream === null || x.body !== null) return false;
    if (typeof this.#bodyNeed === 'function') return this.#bodyNeed(x);
    return this.#bodyNeed === 'any' || isJson(mediaTypeOf(headerOf(x.headers, 'content-type')));
  }

  /** Clients take their time to send a body: no instance waits for that (docs/decisions.md#instances-do-not-wait). */
  async #afterBody(hook: Hook, x: Exchange): Promise<Outcome> {
    try {
      x.body ??= await x.readBody();
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      x.answer ??= { status: 499, body: null };
      return ANSWERED;
    }
    return this.#run(hook, x);
  }

  async #runLater(hook: Hook, x: Exchange): Promise<Outcome> {
    let instance: Instance;
    try {
      instance = await this.#pool.takeLater(this.#snapshot, x);
    } catch (error) {
      return this.#refused(hook, x, error);
    }
    return this.#runOn(instance, hook, x);
  }

  /** The call gets no instance: the client has gone, or the process is at its limits. */
  #refused(hook: Hook, x: Exchange, error: unknown): Outcome {
    if (error instanceof Interrupted) {
      x.answer ??= { status: 499, body: null };
      return ANSWERED;
    }
    x.decided(this.name, 'overloaded');
    this.#binding.services.log(
      error instanceof Overloaded ? 'warn' : 'error',
      this.name,
      `${hook} could not run: ${reasonOf(error)}`,
      x,
    );
    x.answer = { problem: problem('overloaded') };
    return ANSWERED;
  }

  async #pass(hook: Hook, x: Exchange, chunk: Uint8Array | null): Promise<ChunkResult> {
    if (!this.#hooks.has(hook)) return null;
    const instance = await this.#pool.takeLater(this.#snapshot, x);
    return instance.pass(this.#binding, this.#snapshot, hook, x, chunk, this.#observers[hook]);
  }
}
