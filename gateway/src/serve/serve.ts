/** A running gateway: its parts start in order, and stop in the reverse order. */

import type { AddressInfo } from 'node:net';
import { FEATURES } from '../../features/features.ts';
import { serveAdmin } from '../admin/admin.ts';
import { AdminCallers } from '../admin/caller.ts';
import { watchSource } from '../artifact/index.ts';
import type { Bindings } from '../egress/named/bindings.ts';
import { ClientAddress } from '../headers/client-ip.ts';
import { BufferBudget } from '../memory/buffer-budget.ts';
import { SERVE_OPTIONS } from '../options/options.ts';
import type { ServeOptions } from '../options/serve-options.ts';
import { connectionsWithin, openFileLimit, upstreamCallsWithin } from '../process/open-files.ts';
import { watchSecrets } from '../secrets/secrets.ts';
import { LimitLog } from '../telemetry/limit-log.ts';
import { linkMetrics } from '../telemetry/link-metrics.ts';
import type { Level, Log } from '../telemetry/log.ts';
import { messageOf } from '../text/message-of.ts';
import { Fleet } from '../traffic/fleet.ts';
import { openState } from '../traffic/open-state.ts';
import { LocalTraffic, type Traffic, transportLimits } from '../traffic/traffic.ts';
import { LocalConnectionSlots } from '../transport/connection-slots.ts';
import { HeaderMemory } from '../transport/header-memory.ts';
import { bind, isLoopback, reachableAddress, shownAddress } from '../transport/listen-address.ts';
import { type KeyPair, type KeyPairPaths, readKeyPair, TlsFilesError, watchKeyPair } from '../transport/tls.ts';
import { watchExpiry } from '../transport/tls-expiry.ts';
import { createTransport, type Transport } from '../transport/transport.ts';
import { UnreadResponses } from '../transport/unread-responses.ts';
import type { ConnectedMode } from './connected-mode.ts';
import { drained } from './drain-delay.ts';
import { ServedArtifact } from './served-artifact.ts';
import { readUpstreams, UpstreamsFile } from './upstreams-file.ts';

export interface RunningGateway {
  readonly address: AddressInfo;
  readonly adminAddress: AddressInfo | null;
  /** Loads the artifact and its secrets anew; on failure keeps the old one, and rejects with the reason. */
  reload(): Promise<void>;
  /** Sets the level of logs, until the next change or the end. */
  setLogLevel(level: Level): Promise<void>;
  /**
   * Closes each connection with its next answer (`Connection: close`, GOAWAY), and goes on accepting and being ready:
   * for callers that announce the end.
   */
  beginDrain(): void;
  /** Drains and stops; resolves when everything is closed. */
  stop(): Promise<void>;
}

const ARTIFACT_REJECTED = 'new artifact rejected: still serving the previous one';

export interface ServeDeps {
  readonly log: Log;
  /** Receives the standard error of worker processes. */
  stderr(text: string): void;
}

/**
 * Rejects with the error that stopped it: ArtifactError, LinkAddressError, SecretError, PluginLoadError, UpstreamError,
 * TlsFilesError, or BindError.
 */
export async function startGateway(options: ServeOptions, deps: ServeDeps): Promise<RunningGateway> {
  const { log } = deps;
  const { logger } = log;
  const startedAt = performance.now();
  // Started parts are stopped in the reverse order, also if the rest fails to start.
  await using started = new AsyncDisposableStack();
  /** Milliseconds for requests under way; 0 before the gateway serves. */
  let patience = 0;
  let draining = false;
  let accepting = true;
  const tlsFiles = keyPairPaths(options);
  const keyPair = tlsFiles && (await readKeyPair(tlsFiles));
  const served = new ServedArtifact(options, log);
  const bindings = await readUpstreams(options);
  const connected = await openConnectedMode(options, log);
  const file = await served.readFirst(connected !== null);

  let disconnected: Promise<void> | undefined;
  started.defer(() => disconnected);
  let adminAddress: AddressInfo | null = null;
  // The admin port closes last, so that clients can watch the drain to its end.
  started.defer(() => (adminAddress ? admin.close(0) : undefined));
  const limitLog = new LimitLog(log);
  const files = openFileLimit();
  const tooLowFor = (option: string) =>
    `the limit of open files is too low for ${option}: raise it (ulimit -n), or lower ${option}`;
  const maxConnections = connectionsWithin(options.maxConnections, options.workers, files);
  if (maxConnections < options.maxConnections) {
    logger.warn({ max_connections: maxConnections, wanted: options.maxConnections }, tooLowFor('--max-connections'));
  }
  const callsOfWorker = upstreamCallsWithin(options.maxUpstreamCalls, options.workers, files);
  const isSet = options.maxUpstreamCalls !== SERVE_OPTIONS.maxUpstreamCalls.default;
  if (isSet && callsOfWorker < Math.floor(options.maxUpstreamCalls / options.workers)) {
    logger.warn(
      { max_upstream_calls: callsOfWorker * options.workers, wanted: options.maxUpstreamCalls },
      tooLowFor('--max-upstream-calls'),
    );
  }
  const slots = new LocalConnectionSlots(maxConnections, limitLog);
  const traffic = await createTraffic(options, deps, { keyPair, slots, bindings });
  started.defer(() => traffic.close(patience));
  await served.loadFirst(file, traffic, connected);
  if (options.trustedKeys.length === 0 && !options.dev) {
    logger.warn('GW_TRUSTED_PUBKEY is not set: content hashes are verified, but signatures are not');
  }

  const ofLink = linkMetrics(() => connected?.figures() ?? null);
  const boundName = options.adminBind ? [options.adminBind.host] : [];
  const isTryable = keyPair === null && options.adminBind !== null && isLoopback(options.adminBind.host);
  let tryOrigin: string | null = null;
  const admin = createAdmin(
    options,
    {
      callers: new AdminCallers([...boundName, ...options.adminHosts]),
      artifact: () => served.artifact,
      draining: () => draining,
      accepting: () => accepting,
      awaiting: () => connected?.awaited ?? false,
      drifted: () => connected?.drifted ?? false,
      log,
      setLogLevel,
      closeKept: (withinMs) => traffic.closeKept(withinMs),
      trace: (request, peer) => traffic.trace(request, peer),
      upstreams: () => traffic.upstreams(),
      metrics: async () => {
        const { type, text } = await traffic.metrics();
        const { renderMetrics } = await import('../telemetry/rendered-metrics.ts');
        return { type, text: text + (await renderMetrics(ofLink)).text };
      },
      inspector: options.dev || options.inspector,
      reference: options.dev ? { tryOrigin: () => (isTryable ? tryOrigin : null) } : null,
      startedAt,
    },
    logger,
  );

  async function setLogLevel(level: Level): Promise<void> {
    const from = log.level;
    if (from === level) return;
    await traffic.setLogLevel(level);
    logger.warn({ from, to: level }, 'log level changed');
  }

  if (options.adminBind) adminAddress = await bind(options.adminBind, '--admin-bind', admin.listen);
  const address = await traffic.listen();
  tryOrigin = `http://${reachableAddress(address)}`;
  patience = options.shutdownTimeout * 1000;
  started.defer(async () => {
    traffic.beginDrain();
    logger.info({ drain_delay: options.drainDelay, shutdown_timeout: options.shutdownTimeout }, 'draining');
    const { extraMs, routed } = await drained(options.drainDelay * 1000, () => slots.lastAt);
    if (extraMs > 0) logger.warn({ extra_ms: Math.round(extraMs), routed }, 'connections came after the drain delay');
    accepting = false;
  });
  if (options.adminBind && !isLoopback(options.adminBind.host)) {
    logger.warn(
      { admin: shownAddress(adminAddress) },
      'the admin port has no authentication and is not on a loopback address',
    );
  }
  logger.info(
    {
      listen: shownAddress(address),
      admin: shownAddress(adminAddress),
      tls: keyPair !== null,
      workers: options.workers,
    },
    'serving',
  );
  const expiry =
    tlsFiles &&
    keyPair &&
    watchExpiry(keyPair, ({ expires, message }) => logger.warn({ tls_cert: tlsFiles.cert, expires }, message));
  started.defer(() => expiry?.stop());
  const stopWatching =
    tlsFiles &&
    keyPair &&
    watchKeyPair(tlsFiles, keyPair, {
      changed(pair) {
        traffic.useTls(pair);
        logger.info({ tls_cert: tlsFiles.cert }, 'certificate replaced');
        expiry?.use(pair);
      },
      refused: (reason) => logger.error({ reason }, 'certificate rejected: still serving the previous one'),
    });
  started.defer(() => stopWatching?.());

  /** The last artifact was rejected, perhaps because its upstreams had no addresses yet. */
  let isRejected = false;
  const upstreamsFile = new UpstreamsFile(options, {
    traffic,
    logger,
    names: () => served.upstreams,
    replaced: async () => {
      if (isRejected) await reloadOr(ARTIFACT_REJECTED)();
    },
  });
  const reload = async () => {
    await upstreamsFile.reload();
    await served.reload(traffic);
  };
  /** Reports an artifact that does not load; the previous one stays in service. */
  const reloadOr = (refused: string) => async () => {
    try {
      await reload();
      isRejected = false;
    } catch (error) {
      isRejected = true;
      logger.error({ reason: messageOf(error) }, refused);
    }
  };
  const watched = options.watchArtifact === false || connected !== null ? undefined : options.artifact;
  if (watched !== undefined) started.defer(watchSource(watched, reloadOr(ARTIFACT_REJECTED)));
  if (options.secretsDir !== undefined)
    started.defer(watchSecrets(options.secretsDir, reloadOr('new secrets rejected: still using the previous ones')));
  started.defer(upstreamsFile.watch());
  connected?.start({
    served: () => served.hash,
    load: (next) => served.load(next, traffic),
  });
  // Telling the control plane delays nothing else.
  started.defer(() => {
    disconnected = connected?.stop();
  });

  const running = started.move();
  return {
    address,
    adminAddress,
    async reload() {
      await reload();
      connected?.retry();
    },
    setLogLevel,
    beginDrain() {
      logger.info('closing each connection with its next response');
      traffic.beginDrain();
    },
    async stop() {
      draining = true;
      await running.disposeAsync();
      logger.info('stopped');
    },
  };
}

async function createTraffic(
  options: ServeOptions,
  { log, stderr }: ServeDeps,
  shared: { readonly keyPair: KeyPair | null; readonly slots: LocalConnectionSlots; readonly bindings: Bindings },
): Promise<Traffic> {
  if (options.workers > 1) return new Fleet(options, { log, stderr, ...shared });
  const traffic = new LocalTraffic(options, {
    features: FEATURES,
    log,
    ...shared,
    state: await openState(options, log),
  });
  shared.slots.endOneOf = (eviction) => traffic.endOneOf(eviction);
  return traffic;
}

function createAdmin(options: ServeOptions, state: Parameters<typeof serveAdmin>[1], logger: Log['logger']): Transport {
  const events = {
    request: (exchange: Parameters<typeof serveAdmin>[0]) => serveAdmin(exchange, state),
    connectionOpened: () => {},
    connectionClosed: () => {},
    yielded: () => {},
    refused: () => {},
    crashed: (err: unknown) => logger.error({ err }, 'a request of the admin port failed in the gateway'),
  };
  const headerMemory = new HeaderMemory({
    most: options.maxHeldHeaderBytes,
    client: new ClientAddress([]),
    yielded: () => {},
  });
  const slots = new LocalConnectionSlots(options.maxConnections);
  const unread = new UnreadResponses(new BufferBudget(options.maxHeldResponseBytes));
  const transport = createTransport(transportLimits(options), events, { slots, headerMemory, unread });
  slots.endOneOf = transport.endOneOf;
  return transport;
}

/** Returns null without TLS. */
function keyPairPaths({ tlsCert, tlsKey, tlsClientCa, tlsClientAuth = 'off' }: ServeOptions): KeyPairPaths | null {
  if (tlsClientCa !== undefined && tlsClientAuth === 'off') {
    throw new TlsFilesError('--tls-client-ca needs --tls-client-auth optional or required: nobody would be verified');
  }
  if (tlsClientCa === undefined && tlsClientAuth !== 'off') {
    throw new TlsFilesError(`--tls-client-auth ${tlsClientAuth} needs --tls-client-ca: who may sign certificates`);
  }
  if (tlsClientCa !== undefined && tlsCert === undefined) {
    throw new TlsFilesError('--tls-client-ca needs --tls-cert and --tls-key: certificates of clients come with TLS');
  }
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined) throw new TlsFilesError('--tls-key needs --tls-cert: give both or neither');
  if (tlsKey === undefined) throw new TlsFilesError('--tls-cert needs --tls-key: give both or neither');
  return { cert: tlsCert, key: tlsKey, ...(tlsClientCa === undefined ? {} : { clientCa: tlsClientCa }) };
}

/** Returns null without a control plane. Its modules are imported only if needed. */
async function openConnectedMode({ controlPlane, trustedKeys }: ServeOptions, log: Log): Promise<ConnectedMode | null> {
  if (controlPlane === undefined) return null;
  const { ConnectedMode } = await import('./connected-mode.ts');
  return ConnectedMode.open(controlPlane, { log, trustedKeys });
}
