/** A plugin as the pipeline sees it: a module bound to one config, ready to be called. */

import type { ArtifactPlugin, JsonObject } from '../../artifact/format.ts';
import type { Exchange } from '../../exchange.ts';
import type { Upstream } from '../../hand-off.ts';
import type { Problem } from '../../problems.ts';
import type { PluginFigures } from '../../telemetry/figures.ts';

/** The decision of a hook. */
export type Outcome = typeof CONTINUE | typeof ANSWERED | typeof HANDED_OFF;
/** The chain goes on. */
export const CONTINUE = 0;
/** `Exchange.answer` holds the response; also after a plugin failed or was stopped. */
export const ANSWERED = 1;
/** `Exchange.handOff` holds the upstream (dispatchers). */
export const HANDED_OFF = 2;

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** Services of the gateway for host functions. */
export interface CallServices {
  /**
   * Opens (or finds) the upstream that a config property marked `x-gw-upstream` names; refuses plaintext and addresses
   * that are not open (docs/reference/gateway.md#egress).
   */
  openUpstream(url: string, config: JsonObject): Upstream;
  log(level: LogLevel, plugin: string, message: string, exchange: Exchange | null): void;
}

export interface PluginLimits {
  /** CPU milliseconds a call; default 25 (docs/decisions.md#cpu-time-of-plugins). */
  readonly cpuMs: number;
  /** Bytes of memory an instance; default 16 MiB. */
  readonly memoryBytes: number;
  /** Instances over the process; default 2000. */
  readonly instances: number;
  /** Bytes of memory of all instances with waiting calls; default 256 MiB; past it the client with most gets 503. */
  readonly waitingBytes: number;
  /** Calls that may wait for an instance; default 10000; past it 503. */
  readonly queue: number;
}

export const DEFAULT_LIMITS: PluginLimits = {
  cpuMs: 25,
  memoryBytes: 16 << 20,
  instances: 2000,
  waitingBytes: 256 << 20,
  queue: 10_000,
};

/** A chunk's fate: null lets it pass unchanged, bytes replace it. */
export type ChunkResult = Uint8Array | null;

/** Form of a problem for clients of a protocol, whatever its source. */
export type ProblemForm = (exchange: Exchange, problem: Problem) => Problem;

export interface BoundPlugin {
  readonly name: string;
  readonly plugin: ArtifactPlugin;
  readonly hasRequestHook: boolean;
  readonly hasResponseHook: boolean;
  readonly hasRequestChunks: boolean;
  readonly hasResponseChunks: boolean;
  /** The plugin wants the whole body of responses. */
  readonly buffersResponse: boolean;
  /** Of a dispatcher: the form of all problems of its operations; null: unchanged. */
  readonly problemForm: ProblemForm | null;
  /** Each always ends, at once if the plugin does not wait: a failing one answers with a problem (ANSWERED). */
  onRequest(exchange: Exchange): Outcome | Promise<Outcome>;
  onResponse(exchange: Exchange): Outcome | Promise<Outcome>;
  dispatch(exchange: Exchange): Outcome | Promise<Outcome>;
  /** Reject when the plugin fails: the stream is then cut. */
  requestChunk(exchange: Exchange, chunk: Uint8Array): Promise<ChunkResult>;
  requestEnd(exchange: Exchange): Promise<ChunkResult>;
  responseChunk(exchange: Exchange, chunk: Uint8Array): Promise<ChunkResult>;
  responseEnd(exchange: Exchange): Promise<ChunkResult>;
  /** Drops the idle instances; calls in flight finish. */
  close(): void;
}

export interface PluginRuntime {
  readonly figures: PluginFigures;
  /** Checks, meters and compiles a module. Throws PluginLoadError. */
  load(plugin: ArtifactPlugin, wasm: Uint8Array): Promise<LoadedModule>;
  close(): void;
}

export interface BindOptions {
  /**
   * Calls, one at a time, begin with the memory that the previous one has left: gateways never do that, but tests
   * detect by it whether a plugin relies on restored memory. Default false.
   */
  readonly keepsMemory?: boolean;
}

export interface LoadedModule {
  /** Binds it to a config with resolved secrets; equal configs share a pool. Throws PluginLoadError. */
  bind(config: JsonObject, options?: BindOptions): Promise<BoundPlugin>;
}
