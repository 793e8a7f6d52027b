/**
 * Workers: processes that serve one port between them (`--workers`). The parent serves no request: it holds the
 * artifact and the shared state of all workers (docs/decisions.md#counted-over-workers), and replaces a worker that
 * dies.
 */
import type { AddressInfo } from 'node:net';
import type { LoadedArchive } from '../artifact/index.ts';
import type { Bindings } from '../egress/named/bindings.ts';
import { type NamedUpstreamFigures, sumOfFigures } from '../egress/named/upstream-bindings.ts';
import type { ServeOptions } from '../options/serve-options.ts';
import { SecretError } from '../secrets/secrets.ts';
import { MemoryState } from '../state/memory-state.ts';
import { QuotaLeases } from '../state/quota-leases.ts';
import type { Level, Log } from '../telemetry/log.ts';
import { messageOf } from '../text/message-of.ts';
import type { TraceReport } from '../trace/report.ts';
import type { TraceRequest } from '../trace/request.ts';
import type { Eviction } from '../transport/connection-shares.ts';
import type { LocalConnectionSlots } from '../transport/connection-slots.ts';
import { bind } from '../transport/listen-address.ts';
import { reservePort } from '../transport/reserve-port.ts';
import type { KeyPair } from '../transport/tls.ts';
import { RemoteError } from './channel.ts';
import { FleetMetrics } from './fleet-metrics.ts';
import { HeldConnections } from './held-connections.ts';
import type { SharedState } from './messages.ts';
import { stateMethods } from './shared-state.ts';
import type { Traffic } from './traffic.ts';
import { WorkerProcess } from './worker-process.ts';

export interface FleetDeps {
  readonly log: Log;
  readonly keyPair: KeyPair | null;
  /** Addresses of named upstreams. */
  readonly bindings: Bindings;
  /** Slots of all workers. */
  readonly slots: LocalConnectionSlots;
  /** Receives the workers' standard error. */
  stderr(text: string): void;
}

/** A worker that does not come up is tried again after this, then after twice as long, up to the most. */
const RETRY_MS = 250;
const MOST_RETRY_MS = 30_000;
/** Milliseconds for closing beyond the time for requests in flight. */
const CLOSE_GRACE_MS = 5_000;

export class Fleet implements Traffic {
  readonly #options: ServeOptions;
  readonly #deps: FleetDeps;
  readonly #shared = new MemoryState();
  readonly #quotas: QuotaLeases;
  readonly #metrics = new FleetMetrics();
  readonly #workers = new Set<WorkerProcess>();
  readonly #held = new Map<WorkerProcess, HeldConnections>();
  #keyPair: KeyPair | null;
  #bindings: Bindings;
  /** Null until one is loaded. */
  #archive: Uint8Array | null = null;
  /** Port that all workers bind. */
  #port = 0;
  /** All workers exist, or are being replaced. */
  #started = false;
  #ending = false;
  #retryMs = RETRY_MS;
  /** Changes run one at a time, so that all workers have the same state. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ServeOptions, deps: FleetDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#keyPair = deps.keyPair;
    this.#bindings = deps.bindings;
    this.#quotas = new QuotaLeases({ store: this.#shared.rateLimits, workers: options.workers });
    deps.slots.endOneOf = (eviction) => this.#endOneOf(eviction);
  }

  load({ archive }: LoadedArchive): Promise<void> {
    return this.#inTurn(() => (this.#started ? this.#replaceArtifact(archive) : this.#startAll(archive)));
  }

  listen(): Promise<AddressInfo> {
    return this.#inTurn(async () => {
      if (!this.#started) await this.#startAll(null);
      this.#port = await bind(this.#options.listen, '--listen', reservePort);
      const addresses = await Promise.all([...this.#workers].map((worker) => this.#listening(worker)));
      return addresses[0] as AddressInfo;
    });
  }

  useTls(keyPair: KeyPair): void {
    void this.#inTurn(async () => {
      this.#keyPair = keyPair;
      await this.#each((worker) => worker.channel.call('useTls', keyPair));
    });
  }

  bindUpstreams(bindings: Bindings): Promise<void> {
    return this.#inTurn(async () => {
      this.#bindings = bindings;
      await this.#each((worker) => worker.channel.call('bindUpstreams', bindings));
    });
  }

  async upstreams(): Promise<readonly NamedUpstreamFigures[]> {
    const asked = [...this.#workers].filter(({ serving }) => serving).map(({ channel }) => channel.call('upstreams'));
    const answers = await Promise.allSettled(asked);
    return sumOfFigures(answers.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  }

  setLogLevel(level: Level): Promise<void> {
    return this.#inTurn(async () => {
      this.#deps.log.setLevel(level);
      await this.#each((worker) => worker.channel.call('setLogLevel', level));
    });
  }

  metrics() {
    return this.#metrics.render([...this.#workers]);
  }

  /** Traces in any one of the workers: they are alike. */
  async trace(request: TraceRequest, peer: string): Promise<TraceReport | null> {
    const worker = [...this.#workers].find(({ serving }) => serving);
    return worker === undefined ? null : worker.channel.call('trace', { request, peer });
  }

  beginDrain(): void {
    this.#ending = true;
    void this.#each((worker) => worker.channel.call('beginDrain'));
  }

  closeKept(withinMs: number): void {
    void this.#each((worker) => worker.channel.call('closeKept', withinMs));
  }

  async close(timeoutMs: number): Promise<void> {
    this.#ending = true;
    const late = setTimeout(() => {
      for (const worker of this.#workers) worker.kill();
    }, timeoutMs + CLOSE_GRACE_MS);
    await this.#each(async (worker) => {
      await worker.channel.call('close', timeoutMs);
      worker.kill();
      await worker.exited;
    });
    clearTimeout(late);
  }

  /** Idle ones of any worker before busy ones. */
  async #endOneOf(eviction: Eviction): Promise<string | null> {
    for (const busy of eviction.busy ? [false, true] : [false]) {
      for (const [worker, held] of this.#held) {
        if (!eviction.sites.some((site) => held.has(site))) continue;
        const asked = worker.channel.call('endOneOf', { ...eviction, busy });
        const owner = await Promise.race([asked, worker.exited.then(() => null)]).catch(() => null);
        if (owner === null) continue;
        held.delete(owner);
        return owner;
      }
    }
    return null;
  }

  /** Starts the first worker alone, so that faults are reported once. */
  async #startAll(archive: Uint8Array | null): Promise<void> {
    this.#archive = archive;
    try {
      await this.#start();
      await Promise.all(Array.from({ length: this.#options.workers - 1 }, () => this.#start()));
      this.#started = true;
    } catch (error) {
      const exits = [...this.#workers].map((worker) => {
        worker.kill();
        return worker.exited;
      });
      await Promise.all(exits);
      throw error;
    }
  }

  /** Loads the artifact that all serve, if there is one; rejects with the error of its load. */
  async #start(): Promise<WorkerProcess> {
    const { log, stderr, slots } = this.#deps;
    const held = new HeldConnections();
    const quotas = this.#quotas.of({ recallLease: (id) => worker.recallLease(id) });
    const state: SharedState = {
      takeConnection: async (owner) => {
        const taken = await slots.take(owner);
        if (!taken) return false;
        // The worker died while a place was made.
        if (held.ended) slots.release(owner);
        else held.add(owner);
        return true;
      },
      releaseConnections: (owners) => {
        for (const owner of owners) if (held.delete(owner)) slots.release(owner);
      },
      ...stateMethods(this.#shared, quotas),
    };
    const worker: WorkerProcess = new WorkerProcess({ lines: (bytes) => log.lines(bytes), stderr, state });
    this.#workers.add(worker);
    this.#held.set(worker, held);
    void worker.exited.then((exit) => {
      for (const owner of held.end()) slots.release(owner);
      quotas.end();
      this.#held.delete(worker);
      this.#workers.delete(worker);
      this.#metrics.departed(worker);
      if (this.#ending || !worker.serving) return;
      log.logger.error({ pid: worker.pid, ...exit }, 'a worker died: starting another one');
      void this.#replace();
    });
    try {
      const { channel } = worker;
      await channel.call('configure', {
        options: workerOptions(this.#options),
        logLevel: log.level,
        keyPair: this.#keyPair,
        bindings: this.#bindings,
      });
      if (this.#archive !== null) {
        await channel.call('prepare', this.#archive);
        await channel.call('commit');
      }
    } catch (error) {
      worker.kill();
      throw revived(error);
    }
    return worker;
  }

  async #listening(worker: WorkerProcess): Promise<AddressInfo> {
    try {
      const address = await worker.channel.call('listen', this.#port);
      worker.serving = true;
      this.#deps.log.logger.info({ pid: worker.pid }, 'worker serving');
      return address;
    } catch (error) {
      throw revived(error);
    }
  }

  /** In the place of one that died; tries until it succeeds. */
  async #replace(): Promise<void> {
    try {
      await this.#inTurn(async () => this.#listening(await this.#start()));
      this.#retryMs = RETRY_MS;
    } catch (error) {
      if (this.#ending) return;
      const reason = messageOf(error);
      this.#deps.log.logger.error({ reason, retry_ms: this.#retryMs }, 'a worker did not start');
      setTimeout(() => void this.#replace(), this.#retryMs).unref();
      this.#retryMs = Math.min(this.#retryMs * 2, MOST_RETRY_MS);
    }
  }

  /** Replaces the artifact in all workers or in none. */
  async #replaceArtifact(archive: Uint8Array): Promise<void> {
    const outcomes = await this.#each((worker) => worker.channel.call('prepare', archive));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) {
      await this.#each((worker) => worker.channel.call('discard'));
      throw revived(failed.reason);
    }
    this.#archive = archive;
    await this.#each((worker) => worker.channel.call('commit'));
  }

  /** Asks every worker; one that dies meanwhile counts as fulfilled, since another takes its place. */
  #each(ask: (worker: WorkerProcess) => Promise<unknown>): Promise<PromiseSettledResult<unknown>[]> {
    return Promise.allSettled(
      [...this.#workers].map((worker) => Promise.race([ask(worker), worker.exited.then(() => {})])),
    );
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** The link is the parent's. */
function workerOptions({ controlPlane: _, ...options }: ServeOptions): ServeOptions {
  return options;
}

/** Errors cross processes as name and message; those that decide an exit code get their class back. */
function revived(error: unknown): unknown {
  return error instanceof RemoteError && error.name === 'SecretError'
    ? new SecretError(error.message, { cause: error })
    : error;
}
