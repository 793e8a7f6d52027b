/** Everything that serving needs of one artifact, decided at load: routes, chains, validators, metric places. */

import type { ArtifactPlugin, JsonObject, Operation, PluginUse, RoutesFile } from '../artifact/format.ts';
import type { Artifact } from '../artifact/index.ts';
import type { OpenCapabilities } from '../capability/open-capabilities.ts';
import type { DispatchTarget } from '../egress/named/dispatch-target.ts';
import { NamedUpstream } from '../egress/named/named-upstream.ts';
import { HttpUpstream, type UpstreamOptions, Upstreams } from '../egress/upstream.ts';
import { ExampleResponses } from '../examples/example-responses.ts';
import type { Exchange, MatchedOperation } from '../exchange.ts';
import type { Upstream } from '../hand-off.ts';
import { Admission } from '../headers/admission.ts';
import { LifecycleHeaders } from '../headers/lifecycle.ts';
import { AccessChecks } from '../mcp/caller-access.ts';
import { Toolbox } from '../mcp/toolbox.ts';
import { resolvedUpstream } from '../mcp/upstreams/settings.ts';
import type { UpstreamPool } from '../mcp/upstreams/upstream-pool.ts';
import type { UpstreamSet } from '../mcp/upstreams/upstream-set.ts';
import { StepBudget } from '../patterns/step-budget.ts';
import { type Health, healthOf } from '../reserved/health.ts';
import { SpecLibrary } from '../reserved/spec-library.ts';
import { Router } from '../router/router.ts';
import { parseTemplate } from '../router/template.ts';
import { SecretError, type Secrets } from '../secrets/secrets.ts';
import type { Cell } from '../telemetry/cell.ts';
import type { Metrics, OperationMetrics } from '../telemetry/metrics.ts';
import { AcceptCheck } from '../validation/accept.ts';
import { BodyValidator } from '../validation/body.ts';
import type { ValidationHelpers } from '../validation/helpers/validation-helpers.ts';
import { streamedMessagesOf, type WebSocketMessages, webSocketMessagesOf } from '../validation/messages.ts';
import { ParameterValidator } from '../validation/parameters.ts';
import { ResponseValidator } from '../validation/response.ts';
import { Schemas } from '../validation/schemas/schemas.ts';
import { PluginLoadError } from '../wasm/binary/plugin-load-error.ts';
import type { BoundPlugin, LoadedModule, LogLevel, PluginLimits, PluginRuntime } from '../wasm/call/plugin.ts';
import { createPluginRuntime, functionsOf } from '../wasm/index.ts';
import { UnconfiguredPlugin } from './unconfigured-plugin.ts';

export interface Step {
  readonly plugin: BoundPlugin;
  readonly requestTime: Cell;
  readonly responseTime: Cell;
}

export interface LoadedOperation {
  readonly operation: Operation;
  readonly matched: MatchedOperation;
  /** `matched` without the parts that belong to the generation. */
  readonly outliving: MatchedOperation;
  readonly admission: Admission;
  readonly parameters: ParameterValidator | null;
  readonly body: BodyValidator | null;
  /** Null if the description leaves the types of answers open. */
  readonly accept: AcceptCheck | null;
  /** Null if responses are not validated. */
  readonly response: ResponseValidator | null;
  /** Null if messages of its WebSockets are not validated. */
  readonly messages: WebSocketMessages | null;
  readonly middlewares: readonly Step[];
  readonly dispatcher: BoundPlugin;
  /** The middleware that answers preflights and decorates early refusals (docs/decisions.md#cors-on-refusals). */
  readonly preflight: Step | null;
  readonly requestChunks: boolean;
  readonly responseChunks: boolean;
  /** A middleware wants the whole response body. */
  readonly buffersResponse: boolean;
  readonly metrics: OperationMetrics;
  /** Some middleware has a response hook. */
  readonly responseHooks: boolean;
  /** Returns the counter of the time from dispatch to the response's head, by upstream. */
  dispatchTime(upstream: Upstream | null): Cell;
  /** `Deprecation` and `Sunset`; null if neither is sent. */
  readonly lifecycle: LifecycleHeaders | null;
}

/** One loaded artifact. Requests in flight keep theirs while a newer one takes over. */
export class Generation {
  readonly artifact: Artifact;
  readonly router: Router<LoadedOperation>;
  /** Admission for unmatched requests. */
  readonly baseline = new Admission([]);
  readonly health: Health;
  readonly specs: SpecLibrary;
  /** Null if MCP is not enabled. */
  readonly toolbox: Toolbox | null;
  inFlight = 0;
  #retired = false;
  readonly #close: () => void;

  constructor(artifact: Artifact, router: Router<LoadedOperation>, toolbox: Toolbox | null, close: () => void) {
    this.artifact = artifact;
    this.toolbox = toolbox;
    this.specs = new SpecLibrary(artifact);
    this.router = router;
    this.health = healthOf(artifact.manifest);
    this.#close = close;
  }

  /** A request that counted in `inFlight` has ended. */
  release(): void {
    if (--this.inFlight === 0 && this.#retired) this.#close();
  }

  /** No new request comes: frees plugins and connections when the last one has ended. */
  retire(): void {
    this.#retired = true;
    if (this.inFlight === 0) this.#close();
  }
}

export interface GenerationDeps {
  readonly secrets: Secrets;
  /** Operations with unresolved secrets answer with a problem; else the artifact is not loaded. */
  readonly servesUnresolved: boolean;
  /** Called for each unresolved operation. */
  readonly unresolved: (details: Readonly<Record<string, string>>, message: string) => void;
  readonly metrics: Metrics;
  readonly upstreams: UpstreamOptions;
  readonly capabilities: OpenCapabilities;
  readonly mcpUpstreams: UpstreamPool;
  /** Entries on a page of a list of MCP; 0: up to 1 MB of them. */
  readonly mcpPageSize: number;
  readonly limits: PluginLimits;
  readonly dev: boolean;
  /** Steps that matching patterns may take for a request (docs/decisions.md#patterns-bounded). */
  readonly maxPatternSteps: number;
  /** Helpers that validate values for which that takes long. */
  readonly validation: ValidationHelpers;
  /** Bytes of a response that is held to be validated. */
  readonly maxHeldResponse: number;
  readonly log: (level: LogLevel, plugin: string, message: string, exchange: Exchange | null) => void;
}

/** Operations in a line of the log. */
const MOST_NAMED = 10;

/** Rejects with SecretError (exit 13), PluginLoadError, UpstreamError or TemplateError. */
export async function loadGeneration(artifact: Artifact, deps: GenerationDeps): Promise<Generation> {
  const upstreams = new Upstreams(deps.upstreams, artifact.routes.upstreams);
  const capabilities = await deps.capabilities.load(
    {
      readPem: deps.upstreams.readPem,
      data: artifact.data,
      log: (level, plugin, message) => deps.log(level, plugin, message, null),
    },
    neededFunctions(artifact),
  );
  const runtime = createPluginRuntime(
    {
      capabilities: capabilities.list,
      openUpstream: (url, config) => upstreams.open(url, config),
      log: deps.log,
      observe: (plugin, fn) => {
        const cell = deps.metrics.execution(plugin, fn);
        return (seconds) => cell.observe(seconds);
      },
    },
    deps.limits,
  );
  try {
    const binder = new PluginBinder(artifact, await loadModules(artifact, runtime), deps.secrets);
    const { schemas: table } = artifact.routes;
    const steps = new StepBudget(deps.maxPatternSteps);
    const helpers = deps.validation.open({ schemas: table, verbose: deps.dev, maxSteps: deps.maxPatternSteps });
    const schemas = new Schemas(table, deps.dev, steps, helpers);
    const admissions = new Map<string, Admission>();
    const router = new Router<LoadedOperation>();
    const operations = new Map<number, LoadedOperation>();
    /** Operations by the reason why they are not configured. */
    const unresolved = new Map<string, string[]>();
    for (const operation of artifact.routes.operations) {
      const operationDeps = { binder, schemas, table, admissions, ...deps };
      const loaded = await loadOperation(operation, operationDeps).catch((error: unknown) => {
        if (!(deps.servesUnresolved && error instanceof SecretError)) throw error;
        const { method, path } = operation;
        unresolved.set(error.message, [...(unresolved.get(error.message) ?? []), `${method} ${path}`]);
        return loadUnconfigured(operation, error.message, operationDeps);
      });
      operations.set(operation.index, loaded);
      router.add(operation.method, operation.path, loaded);
    }
    for (const [reason, unconfigured] of unresolved) {
      const more = unconfigured.length > MOST_NAMED ? ` and ${unconfigured.length - MOST_NAMED} more` : '';
      const named = unconfigured.slice(0, MOST_NAMED).join(', ') + more;
      deps.unresolved({ reason, operations: named }, 'operations are answered with 503');
    }
    const mcpUpstreams = openMcpUpstreams(artifact, deps);
    deps.metrics.runtimes.add(runtime);
    const rules = artifact.tools?.access;
    const access = rules === undefined ? null : new AccessChecks(rules, operations);
    const toolbox = Toolbox.of(artifact, { steps, upstreams: mcpUpstreams, pageSize: deps.mcpPageSize, access });
    return new Generation(artifact, router, toolbox, () => {
      mcpUpstreams?.close();
      helpers.close();
      deps.metrics.runtimes.delete(runtime);
      runtime.close();
      capabilities.close();
      upstreams.close();
    });
  } catch (error) {
    runtime.close();
    capabilities.close();
    upstreams.close();
    throw error;
  }
}

/** Returns null without MCP upstreams. Throws SecretError and UpstreamError. */
function openMcpUpstreams(
  { tools }: Artifact,
  { secrets, servesUnresolved, unresolved, upstreams, mcpUpstreams }: GenerationDeps,
): UpstreamSet | null {
  const settings = (tools?.upstreams ?? []).flatMap((each) => {
    try {
      return [resolvedUpstream(each, secrets, upstreams.allowPlaintext)];
    } catch (error) {
      if (!(servesUnresolved && error instanceof SecretError)) throw error;
      unresolved({ mcp_upstream: each.name, reason: error.message }, 'this MCP upstream is left out');
      return [];
    }
  });
  if (settings.length === 0) return null;
  return mcpUpstreams.open(settings, new Set(tools?.tools.map(({ name }) => name)));
}

/** Returns the plugins with their modules. Throws PluginLoadError if the artifact lacks a module. */
function pluginsOf({ manifest, plugins }: Artifact): (readonly [ArtifactPlugin, Uint8Array])[] {
  return (manifest.plugins ?? []).map((plugin) => {
    const wasm = plugins.get(plugin.name);
    if (!wasm) throw new PluginLoadError(`the artifact lists plugin "${plugin.name}" but does not hold it`);
    return [plugin, wasm];
  });
}

function neededFunctions(artifact: Artifact): ReadonlySet<string> {
  return functionsOf(
    pluginsOf(artifact).map(([plugin, wasm]) => ({ wasm, declared: plugin.capabilities.host_functions })),
  );
}

async function loadModules(artifact: Artifact, runtime: PluginRuntime): Promise<Map<string, LoadedModule>> {
  const modules = new Map<string, LoadedModule>();
  for (const [plugin, wasm] of pluginsOf(artifact)) modules.set(plugin.name, await runtime.load(plugin, wasm));
  return modules;
}

/** Binds plugins to configs, each pair once: operations that say the same share a pool. */
class PluginBinder {
  readonly #optional: ReadonlyMap<string, readonly string[]>;
  readonly #plugins: ReadonlyMap<string, ArtifactPlugin>;
  readonly #modules: ReadonlyMap<string, LoadedModule>;
  readonly #secrets: Secrets;
  readonly #bound = new Map<string, Promise<BoundPlugin>>();

  constructor({ manifest }: Artifact, modules: ReadonlyMap<string, LoadedModule>, secrets: Secrets) {
    const { plugins = [] } = manifest;
    this.#optional = new Map(plugins.map((plugin) => [plugin.name, plugin.config_marks?.optional ?? []]));
    this.#plugins = new Map(plugins.map((plugin) => [plugin.name, plugin]));
    this.#modules = modules;
    this.#secrets = secrets;
  }

  pluginOf({ name }: PluginUse): ArtifactPlugin {
    const plugin = this.#plugins.get(name);
    if (!plugin) throw new PluginLoadError(`an operation uses plugin "${name}", which the artifact does not hold`);
    return plugin;
  }

  bind({ name, config }: PluginUse): Promise<BoundPlugin> {
    const key = `${name}\0${JSON.stringify(config)}`;
    let bound = this.#bound.get(key);
    if (!bound) {
      bound = this.#bind(name, config);
      this.#bound.set(key, bound);
    }
    return bound;
  }

  async #bind(name: string, config: JsonObject): Promise<BoundPlugin> {
    const module = this.#modules.get(name);
    if (!module) throw new PluginLoadError(`an operation uses plugin "${name}", which the artifact does not hold`);
    return module.bind(this.#secrets.resolve(config, this.#optional.get(name)));
  }
}

interface OperationDeps {
  readonly capabilities: OpenCapabilities;
  readonly binder: PluginBinder;
  readonly schemas: Schemas;
  /** The table that `schemas` is made from. */
  readonly table: RoutesFile['schemas'];
  readonly admissions: Map<string, Admission>;
  readonly metrics: Metrics;
  readonly maxHeldResponse: number;
}

/** Reports whether its answers are those of another server (docs/decisions.md#accept-of-answers). */
function relays({ plugin }: BoundPlugin, { relayingFunctions }: OpenCapabilities): boolean {
  return plugin.capabilities.host_functions.some((name) => relayingFunctions.has(name));
}

async function loadOperation(operation: Operation, deps: OperationDeps): Promise<LoadedOperation> {
  const middlewares: Step[] = [];
  for (const use of operation.middlewares) {
    const plugin = await deps.binder.bind(use);
    middlewares.push({
      plugin,
      requestTime: deps.metrics.middleware(use.name, 'request'),
      responseTime: deps.metrics.middleware(use.name, 'response'),
    });
  }
  return withPlugins(operation, middlewares, await deps.binder.bind(operation.dispatch), deps);
}

/** Loads an operation without its middlewares: they have nothing behind them. */
function loadUnconfigured(operation: Operation, reason: string, deps: OperationDeps): LoadedOperation {
  const plugin = deps.binder.pluginOf(operation.dispatch);
  return withPlugins(operation, [], new UnconfiguredPlugin(plugin, reason), deps);
}

function withPlugins(
  operation: Operation,
  middlewares: readonly Step[],
  dispatcher: BoundPlugin,
  deps: OperationDeps,
): LoadedOperation {
  const { method, path, api, parameters, request_body } = operation;
  const { names } = parseTemplate(path);
  const plugins = middlewares.map(({ plugin }) => plugin);
  const outliving: MatchedOperation = {
    path,
    operationId: operation.operation_id,
    api,
    admitted: operation.admitted_headers,
    paramNames: names,
    examples: null,
    streamed: null,
    inputs: null,
  };
  return {
    operation,
    matched: {
      ...outliving,
      examples: ExampleResponses.of(operation, deps.table, deps.schemas),
      streamed: streamedMessagesOf(operation, deps.schemas),
      inputs: { parameters, body: request_body ?? null, schemas: deps.table },
    },
    outliving,
    admission: sharedAdmission(operation.admitted_headers, deps.admissions),
    parameters: parameters.length === 0 ? null : new ParameterValidator(parameters, path, deps.schemas),
    body: request_body ? new BodyValidator(request_body, deps.schemas) : null,
    accept: operation.produces && !relays(dispatcher, deps.capabilities) ? new AcceptCheck(operation.produces) : null,
    response: ResponseValidator.of(operation, deps.schemas, deps.maxHeldResponse),
    messages: webSocketMessagesOf(operation, deps.schemas, deps.maxHeldResponse),
    middlewares,
    dispatcher,
    preflight: middlewares.find(({ plugin }) => plugin.plugin.preflight) ?? null,
    requestChunks: plugins.some(({ hasRequestChunks }) => hasRequestChunks),
    responseChunks: plugins.some(({ hasResponseChunks }) => hasResponseChunks),
    buffersResponse: plugins.some((plugin) => plugin.buffersResponse),
    responseHooks: plugins.some(({ hasResponseHook }) => hasResponseHook),
    metrics: deps.metrics.operation(method, path, api),
    dispatchTime: dispatchTimes(operation.dispatch.name, deps.metrics),
    lifecycle: LifecycleHeaders.of(operation),
  };
}

function dispatchTimes(dispatcher: string, metrics: Metrics): LoadedOperation['dispatchTime'] {
  const cells = new Map<Upstream | null, Cell>();
  return (upstream) => {
    let cell = cells.get(upstream);
    if (!cell) {
      cell = metrics.dispatch(dispatcher, upstream?.name ?? '');
      cells.set(upstream, cell);
    }
    return cell;
  };
}

function sharedAdmission(declared: readonly string[], known: Map<string, Admission>): Admission {
  const key = declared.join(',');
  const admission = known.get(key) ?? new Admission(declared);
  known.set(key, admission);
  return admission;
}

/** The upstream of a hand-off is always one that this gateway opened. */
export function isDispatchTarget(upstream: unknown): upstream is DispatchTarget<HttpUpstream> {
  return upstream instanceof HttpUpstream || upstream instanceof NamedUpstream;
}
