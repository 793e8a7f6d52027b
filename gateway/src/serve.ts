/** A running gateway: what starts, in order, and stops in the reverse of it. */

import type { AddressInfo } from 'node:net';
import { isIP } from 'node:net';
import { serveAdmin } from './admin/admin.ts';
import { type Artifact, ArtifactError, readArtifact, watchSource } from './artifact/index.ts';
import { EgressGuard } from './egress/guard.ts';
import type { Exchange } from './exchange.ts';
import { type Generation, type GenerationDeps, loadGeneration } from './generation.ts';
import { ClientAddress, parseAddress } from './headers/client-ip.ts';
import { messageOf } from './message-of.ts';
import { type PipelineOptions, serve } from './pipeline.ts';
import { Secrets } from './secrets/secrets.ts';
import { MemoryRateLimitStore } from './state/memory-rate-limit-store.ts';
import type { Log } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';
import { Recorder } from './telemetry/recorder.ts';
import { type KeyPairPaths, readKeyPair, TlsFilesError, type TlsVersion, watchKeyPair } from './transport/tls.ts';
import { createTransport, type Transport } from './transport/transport.ts';
import { BufferBudget } from './validation/read-body.ts';
import { DEFAULT_LIMITS } from './wasm/plugin.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface ServeOptions {
  /** File, or folder of parts (D29). */
  readonly artifact: string;
  /** Take another artifact when the file or folder is replaced. Default true. */
  readonly watchArtifact?: boolean;
  readonly listen: ListenAddress;
  /** Null where it is off. */
  readonly adminBind: ListenAddress | null;
  readonly dev: boolean;
  readonly maxBodySize: number;
  readonly maxHeaders: number;
  readonly maxHeaderSize: number;
  readonly maxUriLength: number;
  readonly allowPlaintextUpstream: boolean;
  /** PEM files; undefined: no TLS. Both or neither. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly tlsMinVersion: TlsVersion;
  /** Seconds. */
  readonly keepaliveTimeout: number;
  /** Seconds for a TLS handshake and for a request's head. */
  readonly headersTimeout: number;
  /** Seconds without a byte of a request body; 0: no limit. */
  readonly bodyTimeout: number;
  /** Seconds. */
  readonly shutdownTimeout: number;
  /** Seconds that a draining server still accepts connections. */
  readonly drainDelay: number;
  readonly egressAllow: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly exposeHealth: boolean;
  readonly exposeSpecs: boolean;
  /** CPU milliseconds a plugin call (D31). */
  readonly pluginCpuMs: number;
  readonly maxConnections: number;
  readonly maxUpstreamResponseBytes: number;
  readonly maxBufferedBytes: number;
  readonly allowInternalEgress: boolean;
  /** Hex Ed25519 keys; empty: signatures are not checked. */
  readonly trustedKeys: readonly string[];
  readonly secretsDir: string | undefined;
  /** For `env://` references. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface RunningGateway {
  readonly address: AddressInfo;
  readonly adminAddress: AddressInfo | null;
  /** Loads the artifact and its secrets anew; keeps the old one where that fails, and rejects with the reason. */
  reload(): Promise<void>;
  /** Drains and stops; resolves when everything is closed. */
  stop(): Promise<void>;
}

/** Between pings of an HTTP/2 connection (reference 1, section 4.3). */
const PING_INTERVAL_MS = 20_000;

/**
 * Rejects with what stopped it: ArtifactError, SecretError, PluginLoadError, UpstreamError, TlsFilesError, or a bind
 * failure.
 */
export async function startGateway(options: ServeOptions, log: Log): Promise<RunningGateway> {
  const startedAt = performance.now();
  const { logger } = log;
  const metrics = new Metrics();
  const rateLimits = new MemoryRateLimitStore();
  const guard = new EgressGuard({ allowInternal: options.allowInternalEgress, allow: options.egressAllow });

  async function load(): Promise<Generation> {
    const artifact = await open(options);
    const secrets = new Secrets({ env: options.env, dir: options.secretsDir });
    const deps: GenerationDeps = {
      secrets,
      metrics,
      rateLimits,
      upstreams: {
        guard,
        readPem: (path) => secrets.readFile(path),
        allowPlaintext: options.allowPlaintextUpstream || options.dev,
      },
      limits: { ...DEFAULT_LIMITS, cpuMs: options.pluginCpuMs },
      dev: options.dev,
      maxHeldResponse: options.maxUpstreamResponseBytes,
      log: (level, plugin, message, x) => logger[level]({ plugin, request_id: x?.requestId }, message),
    };
    return loadGeneration(artifact, deps);
  }

  const tlsFiles = keyPairPaths(options);
  const keyPair = tlsFiles && (await readKeyPair(tlsFiles));
  const tls = keyPair && { keyPair, minVersion: options.tlsMinVersion };
  let generation = await load();
  let draining = false;
  logArtifact(generation);
  if (options.trustedKeys.length === 0 && !options.dev) {
    logger.warn('GW_TRUSTED_PUBKEY is not set: content hashes are verified, but signatures are not');
  }

  function logArtifact({ artifact: { manifest } }: Generation): void {
    const { artifact_hash, routes_count, plugins } = manifest;
    const names = (plugins ?? []).map(({ name, version }) => `${name}@${version}`);
    logger.info({ artifact_hash, routes: routes_count, plugins: names }, 'artifact loaded');
  }

  const recorder = new Recorder(metrics, log, options.dev);
  const pipeline: PipelineOptions = {
    limits: options,
    reserved: options,
    client: new ClientAddress(options.trustedProxies),
    budget: new BufferBudget(options.maxBufferedBytes),
    recorder,
    dev: options.dev,
    maxBufferedResponse: options.maxUpstreamResponseBytes,
  };
  const limits = {
    ...options,
    keepAliveTimeoutMs: options.keepaliveTimeout * 1000,
    headersTimeoutMs: options.headersTimeout * 1000,
    bodyTimeoutMs: options.bodyTimeout * 1000,
    pingIntervalMs: PING_INTERVAL_MS,
  };
  const events = {
    request: (x: Exchange) => serve(x, generation, pipeline),
    connectionOpened: () => {
      metrics.connections++;
      metrics.activeConnections++;
    },
    connectionClosed: () => {
      metrics.activeConnections--;
    },
    malformed: () => recorder.validationFailed(metrics.unmatched('OTHER'), 'malformed'),
  };
  const traffic = createTransport(limits, events, tls);
  const admin = createTransport(limits, {
    request: (x) => serveAdmin(x, { generation: () => generation, draining: () => draining, metrics, startedAt }),
    connectionOpened: () => {},
    connectionClosed: () => {},
    malformed: () => {},
  });

  const adminAddress = options.adminBind ? await bind(admin, options.adminBind, '--admin-bind') : null;
  if (options.adminBind && !isLoopback(options.adminBind.host)) {
    logger.warn(
      { admin: shown(adminAddress) },
      'the admin port has no authentication and is not on a loopback address',
    );
  }
  let address: AddressInfo;
  try {
    address = await bind(traffic, options.listen, '--listen');
  } catch (error) {
    await admin.close(0);
    generation.retire();
    throw error;
  }
  logger.info({ listen: shown(address), admin: shown(adminAddress), tls: tls !== null }, 'serving');
  const stopWatching =
    tlsFiles &&
    keyPair &&
    watchKeyPair(tlsFiles, keyPair, {
      changed(pair) {
        traffic.useTls({ keyPair: pair, minVersion: options.tlsMinVersion });
        logger.info({ tls_cert: tlsFiles.cert }, 'certificate replaced');
      },
      refused: (reason) => logger.error({ reason }, 'certificate refused: the previous one goes on serving'),
    });

  async function reload(): Promise<void> {
    const next = await load();
    const previous = generation;
    generation = next;
    previous.retire();
    logArtifact(next);
  }

  /** What does not load is reported, and what served before serves on. */
  async function replaced(): Promise<void> {
    try {
      await reload();
    } catch (error) {
      const reason = messageOf(error);
      logger.error({ reason }, 'new artifact refused: the previous one goes on serving');
    }
  }
  const stopLooking = options.watchArtifact === false ? () => {} : watchSource(options.artifact, replaced);

  return {
    address,
    adminAddress,
    reload,
    async stop() {
      draining = true;
      stopLooking();
      stopWatching?.();
      traffic.beginDrain();
      logger.info({ drain_delay: options.drainDelay, shutdown_timeout: options.shutdownTimeout }, 'draining');
      await new Promise((resolve) => setTimeout(resolve, options.drainDelay * 1000));
      await traffic.close(options.shutdownTimeout * 1000);
      if (adminAddress) await admin.close(0);
      generation.retire();
      logger.info('stopped');
    },
  };
}

/** Null without TLS. */
function keyPairPaths({ tlsCert, tlsKey }: ServeOptions): KeyPairPaths | null {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined) throw new TlsFilesError('--tls-key needs --tls-cert: give both or neither');
  if (tlsKey === undefined) throw new TlsFilesError('--tls-cert needs --tls-key: give both or neither');
  return { cert: tlsCert, key: tlsKey };
}

/** Names the file in what does not load. */
async function open({ artifact, trustedKeys }: ServeOptions): Promise<Artifact> {
  try {
    return await readArtifact(artifact, { trustedKeys });
  } catch (error) {
    if (!(error instanceof ArtifactError) || error.message.includes(artifact)) throw error;
    throw new ArtifactError(error.reason, `${artifact}: ${error.message}`, { cause: error });
  }
}

/** The address cannot be listened on. */
export class BindError extends Error {}

async function bind(transport: Transport, { host, port }: ListenAddress, option: string): Promise<AddressInfo> {
  try {
    return await transport.listen(host, port);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason =
      code === 'EADDRINUSE'
        ? 'it is in use: stop the other process or choose another port'
        : code === 'EACCES'
          ? 'that needs more rights: choose a port above 1023'
          : String(error instanceof Error ? error.message : error);
    throw new BindError(`cannot listen on ${host}:${port} (${option}): ${reason}`, { cause: error });
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || parseAddress(host)?.range() === 'loopback';
}

function shown(address: AddressInfo | null): string {
  if (!address) return 'off';
  return isIP(address.address) === 6 ? `[${address.address}]:${address.port}` : `${address.address}:${address.port}`;
}
