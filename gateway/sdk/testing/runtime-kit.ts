/** A plugin from its folder on the gateway's own runtime, without a gateway around it. */
import { type JsonObject, MemoryState } from '@gw/gateway/plugin-test-options';
import {
  type BindOptions,
  type BoundPlugin,
  createPluginRuntime,
  type Exchange,
  type Outcome,
  standaloneCapabilities,
} from '@gw/gateway/plugin-testing';
import { StubbedHttp, type StubbedRequest } from './http-stubs.ts';
import type { HookCall, HookResult, KitOptions, LogLine, PluginKit } from './kit.ts';
import { readPluginFolder } from './plugin-folder.ts';
import { headerList, headerRecord, recordedExchange, renderedAnswer } from './recorder.ts';
import { UnstubbedHttpCall } from './unstubbed-http-call.ts';

/**
 * The kit with direct access to bound plugins, for tests of the gateway's own runtime that call them as the pipeline
 * does.
 */
export interface RuntimeKit extends PluginKit {
  bind(config?: JsonObject): Promise<BoundPlugin>;
}

const NO_NETWORK = 'the testing kit makes no connections: allow them with { network: true }';

const outcomes: Readonly<Record<Outcome, HookResult['outcome']>> = { 0: 'continue', 1: 'answered', 2: 'handed-off' };

/** Loads the plugin in `folder`. Throws PluginLoadError if the gateway would refuse it. */
export async function openKit(folder: string, options: KitOptions = {}): Promise<RuntimeKit> {
  const { plugin, wasm, complete } = await readPluginFolder(folder);
  const logs: LogLine[] = [];
  const stubs = options.network ? null : new StubbedHttp();
  const standalone = await standaloneCapabilities({
    ...(stubs ? { http: stubs, closed: NO_NETWORK } : {}),
    state: options.state ?? new MemoryState(options.now ? { now: options.now } : {}),
    log: (level, message) => logs.push({ level, message }),
  });
  const runtime = createPluginRuntime(
    {
      capabilities: standalone.capabilities,
      openUpstream: (url) => ({ name: url }),
      log: (level, _plugin, message) => logs.push({ level, message }),
      observe: () => () => {},
    },
    options.limits,
  );
  const module = await runtime.load(plugin, wasm);
  const bind = async (config: JsonObject = {}, options?: BindOptions) => module.bind(complete(config), options);

  const run = async (bound: BoundPlugin, { hook, request }: HookCall) => {
    const exchange = recordedExchange(request);
    if (hook === 'onResponse') {
      exchange.response.status = request.response.status;
      exchange.response.headers = headerList(request.response.headers);
      exchange.response.body = request.response.body ?? null;
    }
    const calls = stubs?.expect(exchange, request.httpCalls ?? []) ?? null;
    const before = logs.length;
    const outcome = await bound[hook](exchange);
    const result = resultOf(exchange, outcome, logs.slice(before), calls);
    const [unstubbed] = calls?.unstubbed ?? [];
    if (unstubbed) throw new UnstubbedHttpCall(unstubbed, result);
    return result;
  };
  const call = async (each: HookCall) => {
    const bound = await bind(each.request.config);
    try {
      return await run(bound, each);
    } finally {
      bound.close();
    }
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
      const exchange = recordedExchange(init);
      stubs?.expect(exchange, init.httpCalls ?? []);
      const bound = await bind(init.config);
      let out = '';
      for (const text of chunks) {
        const chunk = Buffer.from(text);
        const passed = await (direction === 'request'
          ? bound.requestChunk(exchange, chunk)
          : bound.responseChunk(exchange, chunk));
        out += Buffer.from(passed ?? chunk).toString();
      }
      const end = await (direction === 'request' ? bound.requestEnd(exchange) : bound.responseEnd(exchange));
      return out + Buffer.from(end ?? []).toString();
    },
    close() {
      runtime.close();
      standalone.close();
    },
  };
}

function resultOf(
  exchange: Exchange,
  outcome: Outcome,
  logs: readonly LogLine[],
  calls: StubbedRequest | null,
): HookResult {
  const answer = renderedAnswer(exchange);
  const staged: Record<string, string> = {};
  for (const { op, name, value } of exchange.response.staged ?? []) {
    if (op === 'remove') delete staged[name];
    else staged[name] = op === 'add' && staged[name] !== undefined ? `${staged[name]}, ${value}` : value;
  }
  return {
    outcome: outcomes[outcome],
    answer,
    problem: answer && exchange.answer && 'problem' in exchange.answer ? JSON.parse(answer.body) : null,
    staged,
    requestHeaders: headerRecord(exchange.headers),
    query: exchange.query,
    requestBody: exchange.body === null ? null : Buffer.from(exchange.body).toString(),
    bodyLimit: Number.isFinite(exchange.bodyStream?.limit) ? (exchange.bodyStream?.limit ?? null) : null,
    context: Object.fromEntries(exchange.context ?? []),
    handOff: exchange.handOff && shownHandOff(exchange.handOff),
    response: {
      status: exchange.response.status,
      headers: headerRecord(exchange.response.headers),
      body: Buffer.from(exchange.response.body ?? '').toString(),
    },
    logs,
    httpCalls: calls?.calls ?? [],
    unusedStubs: calls?.unused ?? [],
  };
}

/** Leaves out members that the host adds. */
function shownHandOff({
  upstream,
  path,
  timeoutMs,
  webSocket,
}: NonNullable<Exchange['handOff']>): HookResult['handOff'] {
  return { upstream: upstream.name, path, timeoutMs, ...(webSocket ? { webSocket } : {}) };
}
