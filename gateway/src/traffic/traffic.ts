/**
 * Serves the traffic port: in this process, or in the workers that it starts (docs/reference/gateway.md#workers). All that
 * serving needs is opened and closed here, in one place, which is why the file is long.
 */

import type { AddressInfo } from 'node:net';
import type { Artifact, LoadedArchive } from '../artifact/index.ts';
import { TOOLS_PATH } from '../artifact/tools.ts';
import type { Features } from '../capability/features.ts';
import { type OpenCapabilities, openCapabilities } from '../capability/open-capabilities.ts';
import { EgressGuard } from '../egress/guard.ts';
import { HttpClient } from '../egress/http-client.ts';
import type { Bindings } from '../egress/named/bindings.ts';
import type { NamedUpstreamFigures, UpstreamBindings } from '../egress/named/upstream-bindings.ts';
import { UpstreamCalls } from '../egress/upstream-calls.ts';
import type { Exchange } from '../exchange.ts';
import { ClientAddress } from '../headers/client-ip.ts';
import { McpEndpoint } from '../mcp/endpoint.ts';
import { UpstreamPool } from '../mcp/upstreams/upstream-pool.ts';
import { BufferBudget } from '../memory/buffer-budget.ts';
import type { ServeOptions } from '../options/serve-options.ts';
import { type Generation, type GenerationDeps, loadGeneration } from '../pipeline/generation.ts';
import { refuseWithoutArtifact } from '../pipeline/no-artifact.ts';
import { type PipelineOptions, serve } from '../pipeline/pipeline.ts';
import { openFileLimit, upstreamCallsWithin } from '../process/open-files.ts';
import { Secrets } from '../secrets/secrets.ts';
import type { State } from '../state/state.ts';
import { EventLoopWatch } from '../telemetry/event-loop.ts';
import { LimitLog } from '../telemetry/limit-log.ts';
import type { Level, Log } from '../telemetry/log.ts';
import type { CountedLimit, LimitOutcome } from '../telemetry/metric-table.ts';
import { Metrics } from '../telemetry/metrics.ts';
import type { Refused } from '../telemetry/recorder.ts';
import { Recorder } from '../telemetry/recorder.ts';
import type { MetricsText } from '../telemetry/scraped-metric.ts';
import { createTracing, type Tracing } from '../telemetry/tracing.ts';
import type { TraceReport } from '../trace/report.ts';
import type { TraceRequest } from '../trace/request.ts';
import type { Eviction } from '../transport/connection-shares.ts';
import type { ConnectionSlots } from '../transport/connection-slots.ts';
import { HeaderMemory } from '../transport/header-memory.ts';
import { bind } from '../transport/listen-address.ts';
import { SHARES_PORTS } from '../transport/reserve-port.ts';
import type { KeyPair } from '../transport/tls.ts';
import { expiryOf } from '../transport/tls-expiry.ts';
import { createTransport, type Transport } from '../transport/transport.ts';
import type { TlsSettings, TransportLimits } from '../transport/transport-state.ts';
import { UnreadResponses } from '../transport/unread-responses.ts';
import { ArrivingBodies } from '../validation/arriving-bodies.ts';
import { ValidationHelpers } from '../validation/helpers/validation-helpers.ts';
import { DEFAULT_LIMITS } from '../wasm/call/plugin.ts';
import { boundUpstreams } from './bound-upstreams.ts';
import { type MemoryBudgets, memoryBudgets } from './memory-budgets.ts';

export interface Traffic {
  /**
   * Loads plugins and secrets, then serves every new request from it; if that fails, the previous artifact stays in
   * service. Rejects with ArtifactError, SecretError, PluginLoadError or UpstreamError.
   */
  load(loaded: LoadedArchive): Promise<void>;
  /** Binds the port; call it once. Until an artifact has been loaded, requests get 503. Rejects with BindError. */
  listen(): Promise<AddressInfo>;
  /** New handshakes use this pair; connections go on with theirs. */
  useTls(keyPair: KeyPair): void;
  /** Sets the level of logs, in this process and in those that serve. */
  setLogLevel(level: Level): Promise<void>;
  /** Metrics of all processes in the text format of scrapers. */
  metrics(): Promise<MetricsText>;
  /**
   * Sends a request through the pipeline, as from `peer`, and reports its course; resolves with null if no artifact is
   * loaded.
   */
  trace(request: TraceRequest, peer: string): Promise<TraceReport | null>;
  /** New addresses of named upstreams take effect at once; requests under way go on. */
  bindUpstreams(bindings: Bindings): Promise<void>;
  /** Returns the named upstreams of the served artifact, as all processes see them. */
  upstreams(): Promise<readonly NamedUpstreamFigures[]>;
  /** From now on every response closes its connection (or sends GOAWAY); new ones are still accepted. */
  beginDrain(): void;
  /** Each connection that is open now closes so with an answer after a moment of its own within that time. */
  closeKept(withinMs: number): void;
  /** Stops accepting, waits for requests in flight up to the time, then cuts the rest. */
  close(timeoutMs: number): Promise<void>;
}

/** Between pings of an HTTP/2 connection (docs/reference/gateway.md#http2). */
const PING_INTERVAL_MS = 20_000;
/** Milliseconds at most between looks at bodies that arrive. */
const SWEEP_MS = 250;
/**
 * Milliseconds each for the last spans, and for remaining deliveries of plugins, whatever is left of the time for
 * closing.
 */
const FLUSH_MS = { least: 500, most: 5_000 };

/** Returns the heap of a validation helper, in MiB: for itself, and for the values in the longest body. */
function helperHeapMb(maxBodySize: number): number {
  return 128 + Math.ceil((maxBodySize * 32) / (1 << 20));
}

/** Returns the bytes of all headers of a request: by default, as many as their number and their size admit. */
function headerBytesOf({ maxHeaderBytes, maxHeaders, maxHeaderSize }: ServeOptions): number {
  return maxHeaderBytes ?? maxHeaders * maxHeaderSize;
}

export function transportLimits(options: ServeOptions): TransportLimits {
  return {
    ...options,
    maxHeaderBytes: headerBytesOf(options),
    keepAliveTimeoutMs: options.keepaliveTimeout * 1000,
    headersTimeoutMs: options.headersTimeout * 1000,
    bodyTimeoutMs: options.bodyTimeout * 1000,
    sendTimeoutMs: options.sendTimeout * 1000,
    pingIntervalMs: PING_INTERVAL_MS,
  };
}

export interface LocalTrafficDeps {
  readonly features: Features;
  readonly log: Log;
  /** Null: the port speaks plaintext. */
  readonly keyPair: KeyPair | null;
  /** Closed with the traffic. */
  readonly state: State;
  readonly slots: ConnectionSlots;
  /** Addresses of named upstreams. */
  readonly bindings: Bindings;
}

/** A load that has succeeded and waits for its turn. */
export interface PreparedLoad {
  commit(): void;
  discard(): void;
}

/** Serves in this process. */
export class LocalTraffic implements Traffic {
  readonly #options: ServeOptions;
  readonly #deps: LocalTrafficDeps;
  readonly #metrics = new Metrics();
  readonly #limitLog: LimitLog;
  readonly #guard: EgressGuard;
  readonly #client: ClientAddress;
  readonly #memory: MemoryBudgets;
  readonly #budget: BufferBudget;
  readonly #responseBudget: BufferBudget;
  readonly #arriving: ArrivingBodies;
  readonly #sweeping: NodeJS.Timeout;
  readonly #http: HttpClient;
  readonly #upstreamCalls: UpstreamCalls;
  readonly #bindings: UpstreamBindings;
  readonly #capabilities: OpenCapabilities;
  readonly #recorder: Recorder;
  readonly #mcp: McpEndpoint;
  readonly #mcpUpstreams: UpstreamPool;
  readonly #transport: Transport;
  readonly #validation: ValidationHelpers;
  readonly #loop: EventLoopWatch;
  /** Logs a defect that concerns one connection or task: others go on. */
  readonly #crashed = (error: unknown): void => {
    this.#deps.log.logger.error({ err: error }, 'a task failed in the gateway: others go on');
  };
  #tracing: Tracing | null = null;
  /** Null until the port is bound. */
  #pipeline: PipelineOptions | null = null;
  #generation: Generation | null = null;

  constructor(options: ServeOptions, deps: LocalTrafficDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#guard = new EgressGuard({ allowInternal: options.allowInternalEgress, allow: options.egressAllow });
    this.#limitLog = new LimitLog(deps.log);
    this.#client = new ClientAddress(options.trustedProxies);
    this.#memory = memoryBudgets(options);
    this.#budget = new BufferBudget(this.#memory.bodies / options.workers);
    this.#responseBudget = new BufferBudget(this.#memory.responses / options.workers);
    const bodyDeadlineMs = options.bodyDeadline * 1000;
    this.#arriving = new ArrivingBodies({ minBodyRate: options.minBodyRate, bodyDeadlineMs });
    const often = Math.max(20, Math.min(SWEEP_MS, bodyDeadlineMs > 0 ? bodyDeadlineMs / 4 : SWEEP_MS));
    this.#sweeping = setInterval(() => this.#arriving.sweep(performance.now()), often).unref();
    this.#loop = new EventLoopWatch(deps.log);
    this.#metrics.eventLoop = this.#loop;
    this.#validation = new ValidationHelpers({
      count: options.validationHelpers,
      deadlineMs: options.validationDeadline,
      heapMb: helperHeapMb(options.maxBodySize),
      counted: (outcome) => this.#metrics.validatedInHelper(outcome),
      unprepared: (schema) => {
        const answered = 'a schema takes more than 10 s to prepare: requests that need it are answered with 500';
        deps.log.logger.error({ schema }, answered);
      },
    });
    this.#upstreamCalls = new UpstreamCalls(
      upstreamCallsWithin(options.maxUpstreamCalls, options.workers, openFileLimit()),
      (outcome, owner) => this.#yielded('upstream-calls', outcome, owner),
    );
    this.#bindings = boundUpstreams(deps, this.#metrics);
    this.#metrics.namedUpstreams = this.#bindings;
    this.#http = new HttpClient({
      calls: this.#upstreamCalls,
      budget: this.#responseBudget,
      guard: this.#guard,
      allowPlaintext: options.allowPlaintextUpstream || options.dev,
      maxResponseBytes: options.maxUpstreamResponseBytes,
    });
    for (const metric of deps.features.capabilities.flatMap(({ metrics }) => metrics)) this.#metrics.announce(metric);
    this.#capabilities = openCapabilities(deps.features.capabilities, {
      state: deps.state,
      http: this.#http,
      guard: this.#guard,
      counter: (name, info) => this.#metrics.counter(name, info),
      sampled: (name, info, values) => this.#metrics.sampled(name, info, values),
      histogram: (name, info) => this.#metrics.histogram(name, info),
      log: (level, message) => deps.log.logger[level](message),
    });
    process.on('unhandledRejection', this.#crashed);
    this.#metrics.state = deps.state;
    this.#recorder = new Recorder(this.#metrics, deps.log, options.dev);
    this.#mcp = new McpEndpoint(deps.state.sessions, options.auditKey ?? null);
    this.#mcpUpstreams = new UpstreamPool(
      {
        http: this.#http,
        budget: this.#responseBudget,
        log: (level, details, message) => deps.log.logger[level](details, message),
        listed: (upstream, succeeded) => this.#metrics.mcpUpstreamListed(upstream, succeeded),
      },
      () => this.#mcp.toolsChanged(),
    );
    this.#metrics.mcpUpstreams = this.#mcpUpstreams;
    this.#metrics.certificateExpiry = deps.keyPair && expiryOf(deps.keyPair);
    const tls = deps.keyPair && this.#tlsSettings(deps.keyPair);
    const headerMemory = new HeaderMemory({
      most: this.#memory.headers / options.workers,
      client: this.#client,
      yielded: (outcome, owner) => this.#yielded('header-memory', outcome, owner),
    });
    this.#metrics.headerMemory = headerMemory;
    const shared = { slots: deps.slots, headerMemory, unread: new UnreadResponses(this.#responseBudget) };
    this.#transport = createTransport(transportLimits(options), this.#events(), shared, tls);
  }

  async load({ artifact }: LoadedArchive): Promise<void> {
    (await this.prepare(artifact)).commit();
  }

  /** Like `load`, in two steps, so that several processes take an artifact together or not at all. */
  async prepare(artifact: Artifact): Promise<PreparedLoad> {
    const next = await loadGeneration(artifact, this.#generationDeps());
    return {
      commit: () => {
        const previous = this.#generation;
        this.#generation = next;
        previous?.retire();
        if (previous?.artifact.manifest.checksums[TOOLS_PATH] !== artifact.manifest.checksums[TOOLS_PATH]) {
          this.#mcp.toolsChanged();
        }
      },
      discard: () => next.retire(),
    };
  }

  /** `sharedPort`: one that several processes bind. */
  async listen(sharedPort: number | null = null): Promise<AddressInfo> {
    const { tracing } = this.#options;
    if (tracing !== null) this.#tracing = await createTracing(tracing, this.#deps.log);
    this.#pipeline = this.#createPipeline();
    const { host, port } = this.#options.listen;
    const shared = sharedPort !== null && SHARES_PORTS;
    const address = { host, port: sharedPort ?? port };
    return bind(address, '--listen', () => this.#transport.listen(host, address.port, shared));
  }

  useTls(keyPair: KeyPair): void {
    this.#metrics.certificateExpiry = expiryOf(keyPair);
    this.#transport.useTls(this.#tlsSettings(keyPair));
  }

  #tlsSettings(keyPair: KeyPair): TlsSettings {
    const { tlsMinVersion, tlsClientAuth = 'off' } = this.#options;
    return { keyPair, minVersion: tlsMinVersion, clientAuth: tlsClientAuth };
  }

  async bindUpstreams(bindings: Bindings): Promise<void> {
    this.#bindings.use(bindings);
  }

  async upstreams(): Promise<readonly NamedUpstreamFigures[]> {
    return this.#bindings.figures;
  }

  async setLogLevel(level: Level): Promise<void> {
    this.#deps.log.setLevel(level);
  }

  metrics(): Promise<MetricsText> {
    return this.#metrics.render();
  }

  metricsAsJson(): Promise<object[]> {
    return this.#metrics.asJson();
  }

  async trace(request: TraceRequest, peer: string): Promise<TraceReport | null> {
    const generation = this.#generation;
    const pipeline = this.#pipeline;
    if (generation === null || pipeline === null) return null;
    const { traceRequest } = await import('../trace/trace.ts');
    return traceRequest(request, { generation, pipeline, peer, scheme: this.#deps.keyPair ? 'https' : 'http' });
  }

  beginDrain(): void {
    this.#transport.beginDrain();
  }

  closeKept(withinMs: number): void {
    this.#transport.closeKept(withinMs);
  }

  async close(timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    await this.#transport.close(timeoutMs);
    clearInterval(this.#sweeping);
    this.#validation.close();
    this.#loop.close();
    this.#generation?.retire();
    const left = () => Math.min(Math.max(until - performance.now(), FLUSH_MS.least), FLUSH_MS.most);
    await this.#capabilities.drain(left());
    void this.#http.close();
    await this.#deps.state.close();
    await this.#tracing?.close(left());
    process.off('unhandledRejection', this.#crashed);
  }

  /** See `Transport.endOneOf`. */
  endOneOf(eviction: Eviction): string | null {
    return this.#transport.endOneOf(eviction);
  }

  #yielded(limit: CountedLimit, outcome: LimitOutcome, owner: string): void {
    this.#metrics.yielded(limit, outcome);
    this.#limitLog.yielded(limit, outcome, owner);
  }

  #events() {
    const metrics = this.#metrics;
    return {
      request: (exchange: Exchange) => {
        // Requests come when the port is bound.
        if (!this.#pipeline) return;
        if (this.#generation) serve(exchange, this.#generation, this.#pipeline);
        else refuseWithoutArtifact(exchange, this.#pipeline);
      },
      connectionOpened: () => {
        metrics.connections++;
        metrics.activeConnections++;
      },
      connectionClosed: () => {
        metrics.activeConnections--;
      },
      yielded: (limit: CountedLimit, outcome: LimitOutcome, owner: string) => this.#yielded(limit, outcome, owner),
      refused: (refused: Refused) => this.#recorder.refusedUnserved(refused),
      crashed: this.#crashed,
    };
  }

  #createPipeline(): PipelineOptions {
    const options = this.#options;
    return {
      limits: { ...options, maxHeaderBytes: headerBytesOf(options) },
      reserved: options,
      client: this.#client,
      budget: this.#budget,
      responseBudget: this.#responseBudget,
      arriving: this.#arriving,
      mcp: this.#mcp,
      recorder: this.#recorder,
      loop: this.#loop,
      tracing: this.#tracing,
      dev: options.dev,
      maxBufferedResponse: options.maxUpstreamResponseBytes,
    };
  }

  #generationDeps(): GenerationDeps {
    const options = this.#options;
    const { logger } = this.#deps.log;
    const secrets = new Secrets({ env: options.env, dir: options.secretsDir });
    return {
      secrets,
      servesUnresolved: options.servesUnresolved === true,
      unresolved: (details, message) => logger.error(details, message),
      metrics: this.#metrics,
      upstreams: {
        guard: this.#guard,
        readPem: (path) => secrets.readFile(path),
        allowPlaintext: options.allowPlaintextUpstream || options.dev,
        appPort: options.appPort,
        calls: this.#upstreamCalls,
        bindings: this.#bindings,
      },
      capabilities: this.#capabilities,
      mcpUpstreams: this.#mcpUpstreams,
      mcpPageSize: options.mcpPageSize,
      limits: {
        ...DEFAULT_LIMITS,
        cpuMs: options.pluginCpuMs,
        waitingBytes: this.#memory.plugins / options.workers,
      },
      dev: options.dev,
      maxPatternSteps: options.maxPatternSteps,
      validation: this.#validation,
      maxHeldResponse: options.maxUpstreamResponseBytes,
      log: (level, plugin, message, exchange) =>
        logger[level]({ plugin, request_id: exchange?.requestId, trace_id: exchange?.traceId }, message),
    };
  }
}
