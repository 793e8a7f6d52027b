/** `gw-operator run`: the controllers on a cluster, once this replica leads. */
import type { Logger } from 'pino';
import { lead } from './lead.ts';
import { openServices } from './open-services.ts';
import type { RunOptions } from './run-options.ts';
import { Endpoints } from './runtime/endpoints.ts';

export interface RunningOperator {
  /** Port of health and metrics. */
  readonly port: number;
  /** Port of the HTTPS listener once it answers; undefined without a listener, or if it was closed before. */
  readonly listening: Promise<number | undefined>;
  /** Resolves when it has stopped; rejects when the Lease was lost, after which only a new process may lead. */
  readonly stopped: Promise<void>;
  close(): Promise<void>;
}

export async function run(options: RunOptions, log: Logger): Promise<RunningOperator> {
  // Started parts stop in the reverse order, also if a later one fails to start.
  await using started = new AsyncDisposableStack();
  const services = openServices(options, log, started);
  const { namespace, identity, lease, listener, metrics, webhooks } = services;
  let ready = false;
  const endpoints = new Endpoints({
    ...options.bind,
    registry: metrics.registry,
    // Services of webhooks have only ready pods: one whose listener does not answer would let everything pass.
    ready: () => ready && (listener?.listening ?? true) && (webhooks?.known ?? true),
  });
  const port = await endpoints.start();
  started.defer(() => endpoints.close());
  const ended = Promise.withResolvers<void>();
  const listening = listener ? listener.start() : Promise.resolve(undefined);
  started.defer(() => listener?.close());
  webhooks?.start();
  started.defer(() => webhooks?.close());
  listening.catch((error: unknown) => ended.reject(error));
  started.defer(() => lease.close());
  // Registered last, so closed first: nothing may write once another replica leads.
  const leaderParts = started.use(new AsyncDisposableStack());

  async function leadOnceElected(): Promise<void> {
    if (options.leaderElection) {
      ready = true;
      log.info({ namespace, identity }, 'waiting for the Lease');
      if (!(await lease.acquire(() => ended.reject(new Error('the Lease was lost: another replica leads'))))) return;
    }
    // The link's settings in pods must not change from one reconcile to the next.
    if (options.listener?.linkService && (await listening) === undefined) return;
    if (leaderParts.disposed) return;
    await lead(options, services, leaderParts, log);
    if (leaderParts.disposed) return;
    ready = true;
    log.info('watching');
  }

  const leading = leadOnceElected().catch((error: unknown) => ended.reject(error));
  const running = started.move();
  let closing: Promise<void> | undefined;
  const close = () => {
    ready = false;
    closing ??= running.disposeAsync().then(async () => {
      await leading;
      ended.resolve();
    });
    return closing;
  };
  return { port, listening, stopped: ended.promise, close };
}
