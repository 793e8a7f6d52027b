/** What `gw serve` and `gw dev` are told (reference 1, section 4.3). */
import type { CredentialSource } from './link/credentials.ts';
import type { TracingOptions } from './telemetry/tracing-options.ts';
import type { ClientAuth } from './transport/client-certificate.ts';
import type { TlsVersion } from './transport/tls.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Where artifacts come from in connected mode (D28). */
export interface ControlPlaneOptions {
  /** WebSocket URL, with the path `/ws/data-plane`. */
  readonly url: string;
  /** UUID. */
  readonly projectId: string;
  /** Data-plane API key of the project, and what the control plane's certificate is checked by; never logged. */
  readonly credentials: CredentialSource;
  /** Shown in the control plane. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Folder for the last good artifact; undefined: none is kept. */
  readonly cacheDir?: string | undefined;
  /**
   * Seconds at most that the gateway is not ready because the control plane has not said what is wanted, or that is not
   * served yet; 0: it is ready with any artifact.
   */
  readonly waitSeconds: number;
}

export interface ServeOptions {
  /** File, or folder of parts (D29); with a control plane what is served first, and optional. */
  readonly artifact?: string | undefined;
  /** Take another artifact when the file or folder is replaced. Default true; not with a control plane. */
  readonly watchArtifact?: boolean;
  /** Default: none. */
  readonly controlPlane?: ControlPlaneOptions | undefined;
  /** Processes that serve; 1: this one alone. */
  readonly workers: number;
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
  /** PEM file of those who may sign clients' certificates; given where `tlsClientAuth` is not `off`, and only there. */
  readonly tlsClientCa?: string | undefined;
  /** Default `off`. */
  readonly tlsClientAuth?: ClientAuth;
  /** Seconds. */
  readonly keepaliveTimeout: number;
  /** Seconds for a TLS handshake and for a request's head. */
  readonly headersTimeout: number;
  /** Seconds without a byte of a request body; 0: no limit. */
  readonly bodyTimeout: number;
  /** Seconds in which a client takes no byte of a response that waits for it; 0: no limit. */
  readonly sendTimeout: number;
  /** Streams that a client may have open at once on an HTTP/2 connection (D23). */
  readonly http2MaxStreams: number;
  /** Streams that a client may reset at once on an HTTP/2 connection (D23). */
  readonly http2MaxResets: number;
  /** Seconds. */
  readonly shutdownTimeout: number;
  /** Seconds that a draining server still accepts connections. */
  readonly drainDelay: number;
  readonly egressAllow: readonly string[];
  /** Port of this machine where the app listens that this gateway is the sidecar of; undefined: it is none (D26). */
  readonly appPort?: number | undefined;
  readonly trustedProxies: readonly string[];
  readonly exposeHealth: boolean;
  readonly exposeSpecs: boolean;
  /** URL of a Redis or Valkey that pods share; undefined: state is this gateway's own. */
  readonly state?: string | undefined;
  /** What all keys in it begin with, so that gateways that share a server share nothing else. */
  readonly statePrefix: string;
  /** Milliseconds that the state server may take to answer. */
  readonly stateTimeoutMs: number;
  /** CPU milliseconds a plugin call (D31). */
  readonly pluginCpuMs: number;
  /** Null: requests are not traced. */
  readonly tracing: TracingOptions | null;
  /** Over all workers (D30), as are rate limits. */
  readonly maxConnections: number;
  readonly maxUpstreamResponseBytes: number;
  /** Bytes of request bodies in memory at once, over all workers. */
  readonly maxBufferedBytes: number;
  readonly allowInternalEgress: boolean;
  /** Hex Ed25519 keys; empty: signatures are not checked. */
  readonly trustedKeys: readonly string[];
  readonly secretsDir: string | undefined;
  /** For `env://` references. */
  readonly env: Readonly<Record<string, string | undefined>>;
}
