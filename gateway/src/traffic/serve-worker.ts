/** A worker process of `gw serve --workers`: serves the port that its parent holds, and asks it for shared state. */

import { Socket } from 'node:net';
import { FEATURES } from '../../features/features.ts';
import { readArtifact } from '../artifact/index.ts';
import { enlargeThreadPool } from '../process/thread-pool.ts';
import { keepRequestsYoung } from '../process/young-generation.ts';
import { atEndOfTick } from '../scheduling/end-of-tick.ts';
import type { LeasingRateLimitStore } from '../state/leasing-rate-limit-store.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import type { ConnectionSlots } from '../transport/connection-slots.ts';
import { Channel, linePort } from './channel.ts';
import { type LeaseRecalls, type SharedState, STATE_FD, type WorkerMethods, type WorkerSettings } from './messages.ts';
import { openState } from './open-state.ts';
import { channelState, leasingStore } from './shared-state.ts';
import { LocalTraffic, type PreparedLoad } from './traffic.ts';

enlargeThreadPool(process.env);
keepRequestsYoung();
// Terminals and service managers signal the whole process group: the parent decides when workers end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {});
process.title = 'gw worker';

class Worker implements WorkerMethods {
  #traffic: LocalTraffic | null = null;
  #log: Log | null = null;
  #prepared: PreparedLoad | null = null;

  async configure({ options, logLevel, keyPair, bindings }: WorkerSettings): Promise<void> {
    const log = await createLog(logLevel, 'json');
    this.#log = log;
    rateLimits = leasingStore(() => parent, options.workers);
    const state = options.state === undefined ? channelState(parent, rateLimits) : await openState(options, log);
    const shared = { keyPair, bindings, slots: sharedSlots };
    this.#traffic = new LocalTraffic(options, { features: FEATURES, log, state, ...shared });
  }

  async prepare(archive: Uint8Array): Promise<void> {
    this.discard();
    // The parent has checked the signature.
    this.#prepared = await this.#running.prepare(await readArtifact(archive));
  }

  commit(): void {
    this.#prepared?.commit();
    this.#prepared = null;
  }

  discard(): void {
    this.#prepared?.discard();
    this.#prepared = null;
  }

  listen(port: number) {
    return this.#running.listen(port);
  }

  useTls(keyPair: Parameters<WorkerMethods['useTls']>[0]): void {
    const { cert, key, clientCa } = keyPair;
    this.#running.useTls({
      cert: Buffer.from(cert),
      key: Buffer.from(key),
      ...(clientCa ? { clientCa: Buffer.from(clientCa) } : {}),
    });
  }

  bindUpstreams(bindings: Parameters<WorkerMethods['bindUpstreams']>[0]): Promise<void> {
    return this.#running.bindUpstreams(bindings);
  }

  upstreams() {
    return this.#running.upstreams();
  }

  setLogLevel(level: Parameters<WorkerMethods['setLogLevel']>[0]): Promise<void> {
    return this.#running.setLogLevel(level);
  }

  metrics() {
    return this.#running.metricsAsJson();
  }

  trace({ request, peer }: Parameters<WorkerMethods['trace']>[0]) {
    return this.#running.trace(request, peer);
  }

  beginDrain(): void {
    this.#running.beginDrain();
  }

  endOneOf(eviction: Parameters<WorkerMethods['endOneOf']>[0]): string | null {
    return this.#traffic?.endOneOf(eviction) ?? null;
  }

  closeKept(withinMs: number): void {
    this.#running.closeKept(withinMs);
  }

  async close(timeoutMs: number): Promise<void> {
    await this.#running.close(timeoutMs);
    await this.#log?.flush();
  }

  get #running(): LocalTraffic {
    if (this.#traffic === null) throw new Error('the worker is not configured');
    return this.#traffic;
  }
}

new Channel<Record<never, never>, WorkerMethods>(
  {
    send: (message) => {
      // Workers end with their parent.
      process.send?.(message, undefined, undefined, () => {});
    },
    receive: (listener) => void process.on('message', listener),
  },
  new Worker(),
);
let rateLimits: LeasingRateLimitStore | null = null;
const parent = new Channel<SharedState, LeaseRecalls>(linePort(new Socket({ fd: STATE_FD })), {
  recallLease: (id) => rateLimits?.recallLease(id) ?? null,
});

let released: (string | null)[] = [];
const sharedSlots: ConnectionSlots = {
  take: (owner) => parent.call('takeConnection', owner),
  release(owner) {
    if (released.push(owner) > 1) return;
    atEndOfTick(() => {
      const owners = released;
      released = [];
      // If the parent has gone, the count is pointless.
      parent.call('releaseConnections', owners).catch(() => {});
    });
  },
};
