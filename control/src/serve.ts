/** A running control plane: parts that start in order, and stop in reverse order. */
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TracingOptions } from '@gw/gateway/telemetry';
import type { KeyPairPaths } from '@gw/gateway/tls-files';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { authenticator } from './access/authenticate.ts';
import type { OidcOptions } from './access/oidc.ts';
import { adminServer } from './admin.ts';
import { type ControlPlane, type ControlPlaneOptions, openControlPlane } from './control-plane.ts';
import { createServer, REQUEST_TIMEOUT_MS } from './http/server.ts';
import { serverTls } from './http/tls.ts';
import { findApiKey } from './modules/api-keys/store.ts';
import { restApi } from './modules/index.ts';
import { findToken } from './modules/tokens/store.ts';
import { Replica } from './replicas/replica.ts';
import { requestSpans } from './telemetry/request-spans.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ServeOptions extends Omit<ControlPlaneOptions, 'log' | 'drainMs'> {
  readonly listen: Address;
  /** Address of health, readiness and metrics (docs/decisions.md#open-endpoints); null: not served. */
  readonly adminBind: Address | null;
  /** GW_CONTROL_ADMIN_TOKEN. */
  readonly adminToken: string | undefined;
  readonly allowedOrigins: readonly string[];
  /** PEM files to serve HTTPS with; null: plain HTTP. Default null. */
  readonly tls?: KeyPairPaths | null;
  /** Null: OIDC tokens are not accepted. Default: null. */
  readonly oidc?: OidcOptions | null;
  /** Null: tracing is off. Default: null. */
  readonly tracing?: TracingOptions | null;
  /** Milliseconds in which a server that stops is not ready, and still accepts. Default 0. */
  readonly drainDelayMs?: number;
  /** Milliseconds for running requests after that. Default: 30,000. */
  readonly drainTimeoutMs?: number;
  /** Runs before the first request is accepted. */
  readonly prepare?: (control: ControlPlane) => Promise<void>;
}

export interface RunningControlPlane {
  readonly control: ControlPlane;
  readonly address: AddressInfo;
  /** Answers running requests, then stops. */
  close(): Promise<void>;
}

/** Characters of an admin token that cannot be guessed. */
const LEAST_ADMIN_TOKEN = 16;
/** Milliseconds for the last spans. */
const SPANS_MS = 2_000;

/** Throws, with instructions, if the server cannot start (docs/reference/control-plane.md#admin-token). */
export async function serve(options: ServeOptions, log: Logger): Promise<RunningControlPlane> {
  const adminToken = checkedAdminToken(options.adminToken, log);
  // Started parts stop in the reverse order, also if a later one fails to start.
  await using started = new AsyncDisposableStack();
  let draining = false;
  const tls = options.tls ? await serverTls(options.tls, REQUEST_TIMEOUT_MS, log) : null;
  started.defer(() => tls?.stop());
  const { allowedOrigins, drainDelayMs = 0, drainTimeoutMs = 30_000 } = options;
  const control = started.adopt(await openControlPlane({ ...options, drainMs: drainTimeoutMs, log }), (each) =>
    each.close(),
  );
  const { db, metrics } = control.context;
  metrics.addProcessMetrics();
  metrics.onScrape(() => {
    const { busy, idle, waiting } = db.connections();
    metrics.set('gw_control_database_connections', { state: 'busy' }, busy);
    metrics.set('gw_control_database_connections', { state: 'idle' }, idle);
    metrics.set('gw_control_database_connections', { state: 'waiting' }, waiting);
  });
  const spans = options.tracing ? await requestSpans(options.tracing, log) : null;
  started.defer(() => spans?.close(SPANS_MS));
  // Loads an HTTP client, which most servers do not need.
  const oidc = options.oidc ? (await import('./access/oidc.ts')).oidcTokens(options.oidc, log) : null;
  started.defer(() => oidc?.close());
  if (options.adminBind) {
    const admin = adminServer({ database: db, metrics, draining: () => draining });
    started.defer(() => admin.close());
    log.info({ admin: await listen(admin, options.adminBind) }, 'admin listening');
  }
  const store = {
    findToken: (token: string) => findToken(db.kysely, token),
    findApiKey: (key: string) => findApiKey(db.kysely, key),
  };
  const authenticate = authenticator({ adminToken, store, access: control.access, oidc });
  const serving = { allowedOrigins, authenticate, spans, tls, draining: () => draining };
  const app = await createServer(control.context, restApi(control), serving);
  started.defer(() => closeWithin(app, drainTimeoutMs));
  if (await db.isFull()) {
    log.error('the disk of the database is full: nothing can be stored until there is room, and /readyz says so');
  }
  await options.prepare?.(control);
  const replica = started.adopt(await Replica.start(control), (each) => each.close());
  app.server.on('upgrade', replica.handleUpgrade);
  log.info({ listen: await listen(app, options.listen), database: db.kind }, 'serving');
  const running = started.move();
  return {
    control,
    address: app.server.address() as AddressInfo,
    async close() {
      draining = true;
      await sleep(drainDelayMs);
      await running.disposeAsync();
    },
  };
}

function checkedAdminToken(token: string | undefined, log: Logger): string {
  if (token === undefined) {
    throw new Error(
      'GW_CONTROL_ADMIN_TOKEN is not set: set it to a long random text, such as of: openssl rand -hex 32',
    );
  }
  if (token.length < LEAST_ADMIN_TOKEN) {
    log.warn(
      `GW_CONTROL_ADMIN_TOKEN has fewer than ${LEAST_ADMIN_TOKEN} characters: set it to a long random text, such as of: openssl rand -hex 32`,
    );
  }
  return token;
}

/** Starts listening; returns the address. */
async function listen(app: FastifyInstance, at: Address): Promise<string> {
  await app.listen({ ...at, listenTextResolver: (address) => `listening at ${address}` });
  const { address, port } = app.server.address() as AddressInfo;
  return `${address}:${port}`;
}

/** Answers running requests, for at most that long. */
async function closeWithin(app: FastifyInstance, ms: number): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), ms);
  await app.close();
  clearTimeout(late);
}
