/**
 * The testing kit: runs a plugin from its folder (plugin.toml, config-schema.json, module) on the gateway's own
 * runtime, without a gateway around it.
 *
 *     const kit = await testPlugin(import.meta.dirname);
 *     const result = await kit.onRequest({ config: { quota: 1, window: 60 }, path: '/books' });
 *     expect(result.outcome).toBe('continue');
 */
import {
  type BindOptions,
  type BoundPlugin,
  createPluginRuntime,
  type Exchange,
  type JsonObject,
  type LogLevel,
  MemoryState,
  type Outcome,
  type PluginLimits,
  type State,
  standaloneOutside,
} from '@gw/gateway/plugin-testing';
import { readPluginFolder } from './plugin-folder.ts';
import {
  type Answered,
  type HeaderRecord,
  headerList,
  headerRecord,
  type RequestInit,
  recordedExchange,
  renderedAnswer,
} from './recorder.ts';

export { MemoryState, type State, StateUnavailable } from '@gw/gateway/plugin-testing';
export type { Answered, HeaderRecord, RequestInit } from './recorder.ts';

export interface KitOptions {
  readonly limits?: Partial<PluginLimits>;
  /** Default: counters and a cache of the kit's own, on the clock below. */
  readonly state?: State;
  /** Milliseconds since the epoch, for rate limits and caches. Default: the system's. */
  readonly now?: () => number;
}

export interface HookRequest extends RequestInit {
  /** Without the schema's defaults, which are filled in. */
  readonly config?: JsonObject;
}

export interface ResponseRequest extends HookRequest {
  readonly response: { readonly status: number; readonly headers?: HeaderRecord; readonly body?: string };
}

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
}

export interface HookResult {
  readonly outcome: 'continue' | 'answered' | 'handed-off';
  /** What the client would get; null where the plugin made no answer. */
  readonly answer: Answered | null;
  /** The answer's problem document, where it is one. */
  readonly problem: Readonly<Record<string, unknown>> | null;
  /** Response headers staged for whatever the answer will be. */
  readonly staged: Readonly<Record<string, string>>;
  /** The request's headers as later plugins and the upstream see them. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly query: string | undefined;
  readonly requestBody: string | null;
  /** Bytes past which the gateway would refuse the body; null where the plugin has set no limit. */
  readonly bodyLimit: number | null;
  readonly context: Readonly<Record<string, string>>;
  readonly handOff: { readonly upstream: string; readonly path: string; readonly timeoutMs: number } | null;
  /** After `on_response`: what would be sent. */
  readonly response: Answered;
  readonly logs: readonly LogLine[];
}

/** A hook, with what it is called for. */
export type HookCall =
  | { readonly hook: 'onRequest' | 'dispatch'; readonly request: HookRequest }
  | { readonly hook: 'onResponse'; readonly request: ResponseRequest };

export interface PluginKit {
  onRequest(request: HookRequest): Promise<HookResult>;
  onResponse(request: ResponseRequest): Promise<HookResult>;
  dispatch(request: HookRequest): Promise<HookResult>;
  call(call: HookCall): Promise<HookResult>;
  /** The same call twice, where the second finds the memory that the first has left: as in no gateway. */
  twiceInSameMemory(call: HookCall): Promise<readonly [HookResult, HookResult]>;
  /** Passes chunks through the chunk hooks of a direction; returns what comes out. */
  stream(direction: 'request' | 'response', chunks: readonly string[], request?: HookRequest): Promise<string>;
  /** Throws where the schema or the plugin refuses the config. */
  bind(config?: JsonObject): Promise<BoundPlugin>;
  close(): void;
}

const outcomes: Readonly<Record<Outcome, HookResult['outcome']>> = { 0: 'continue', 1: 'answered', 2: 'handed-off' };

/** Loads the plugin in `folder`. Throws PluginLoadError where the gateway would refuse it. */
export async function testPlugin(folder: string, options: KitOptions = {}): Promise<PluginKit> {
  const { plugin, wasm, complete } = await readPluginFolder(folder);
  const logs: LogLine[] = [];
  const outside = standaloneOutside((level, message) => logs.push({ level, message }));
  const runtime = createPluginRuntime(
    {
      state: options.state ?? new MemoryState(options.now ? { now: options.now } : {}),
      http: outside.http,
      tokens: outside.tokens,
      directories: outside.directories,
      openUpstream: (url) => ({ name: url }),
      log: (level, _plugin, message) => logs.push({ level, message }),
      observe: () => () => {},
    },
    options.limits,
  );
  const module = await runtime.load(plugin, wasm);
  const bind = async (config: JsonObject = {}, options?: BindOptions) => module.bind(complete(config), options);

  const run = async (bound: BoundPlugin, { hook, request }: HookCall) => {
    const x = recordedExchange(request);
    if (hook === 'onResponse') {
      x.responseStatus = request.response.status;
      x.responseHeaders = headerList(request.response.headers);
      x.responseBody = request.response.body ?? null;
    }
    const before = logs.length;
    const outcome = await bound[hook](x);
    return resultOf(x, outcome, logs.slice(before));
  };
  const call = async (each: HookCall) => {
    const bound = await bind(each.request.config);
    const result = await run(bound, each);
    bound.close();
    return result;
  };
  return {
    bind,
    call,
    onRequest: (request) => call({ hook: 'onRequest', request }),
    onResponse: (request) => call({ hook: 'onResponse', request }),
    dispatch: (request) => call({ hook: 'dispatch', request }),
    async twiceInSameMemory(each) {
      const bound = await bind(each.request.config, { keepsMemory: true });
      const results = [await run(bound, each), await run(bound, each)] as const;
      bound.close();
      return results;
    },
    async stream(direction, chunks, init = {}) {
      const x = recordedExchange(init);
      const bound = await bind(init.config);
      let out = '';
      for (const text of chunks) {
        const chunk = Buffer.from(text);
        const passed = await (direction === 'request' ? bound.requestChunk(x, chunk) : bound.responseChunk(x, chunk));
        out += Buffer.from(passed ?? chunk).toString();
      }
      const end = await (direction === 'request' ? bound.requestEnd(x) : bound.responseEnd(x));
      return out + Buffer.from(end ?? []).toString();
    },
    close() {
      runtime.close();
      outside.close();
    },
  };
}

function resultOf(x: Exchange, outcome: Outcome, logs: readonly LogLine[]): HookResult {
  const answer = renderedAnswer(x);
  const staged: Record<string, string> = {};
  for (const { op, name, value } of x.staged ?? []) {
    if (op === 'remove') delete staged[name];
    else staged[name] = op === 'add' && staged[name] !== undefined ? `${staged[name]}, ${value}` : value;
  }
  return {
    outcome: outcomes[outcome],
    answer,
    problem: answer && x.answer && 'problem' in x.answer ? JSON.parse(answer.body) : null,
    staged,
    requestHeaders: headerRecord(x.headers),
    query: x.query,
    requestBody: x.body === null ? null : Buffer.from(x.body).toString(),
    bodyLimit: Number.isFinite(x.bodyStream?.limit) ? (x.bodyStream?.limit ?? null) : null,
    context: Object.fromEntries(x.context ?? []),
    handOff: x.handOff && { upstream: x.handOff.upstream.name, path: x.handOff.path, timeoutMs: x.handOff.timeoutMs },
    response: {
      status: x.responseStatus,
      headers: headerRecord(x.responseHeaders),
      body: Buffer.from(x.responseBody ?? '').toString(),
    },
    logs,
  };
}
