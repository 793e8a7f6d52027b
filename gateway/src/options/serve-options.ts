/**
 * Options of a gateway (docs/reference/gateway.md#serve-options): those of the command line, and values derived from
 * them.
 */
import type { CredentialSource } from '../link/credentials.ts';
import type { TracingOptions } from '../telemetry/tracing-options.ts';
import type { ValuesOf } from './option-table.ts';
import type { SERVE_OPTIONS } from './options.ts';

/** The source of artifacts in connected mode (docs/decisions.md#artifact-optional-when-connected). */
export interface ControlPlaneOptions {
  /** WebSocket URL, with the path `/ws/data-plane`. */
  readonly url: string;
  /** UUID. */
  readonly projectId: string;
  /** Data-plane API key of the project, and the roots for the control plane's certificate; never logged. */
  readonly credentials: CredentialSource;
  /** Shown in the control plane. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Folder for the last good artifact; undefined: it is not kept. */
  readonly cacheDir?: string | undefined;
  /**
   * Most seconds for which the gateway is not ready because the control plane has not named the wanted artifact, or
   * that is not served yet; 0: it is ready with any artifact.
   */
  readonly waitSeconds: number;
}

/** Values of the table of options, by name. */
export type ServeFlags = ValuesOf<typeof SERVE_OPTIONS>;

/** Options that make up `controlPlane`. */
export type ControlPlaneFlag =
  | 'controlPlane'
  | 'projectId'
  | 'apiKey'
  | 'apiKeyFile'
  | 'controlPlaneCa'
  | 'controlPlaneWait'
  | 'dataPlaneName'
  | 'dataPlaneLabel'
  | 'cacheDir';

export interface ServeOptions
  extends Omit<ServeFlags, ControlPlaneFlag | 'otlpEndpoint' | 'traceSampling' | 'logLevel' | 'logFormat'> {
  /** Take another artifact when the file or folder is replaced. Default true; not with a control plane. */
  readonly watchArtifact?: boolean;
  /** A file of `upstreams` that does not exist has no addresses. Default false: it is an error. */
  readonly upstreamsMayBeMissing?: boolean;
  /** Default: none. */
  readonly controlPlane?: ControlPlaneOptions | undefined;
  /**
   * Operations with a secret reference that does not resolve answer 503, and the rest is served. Default false: such an
   * artifact is not loaded.
   */
  readonly servesUnresolved?: boolean;
  /** Null: requests are not traced. */
  readonly tracing: TracingOptions | null;
  readonly allowInternalEgress: boolean;
  /** Hex Ed25519 keys; empty: signatures are not checked. */
  readonly trustedKeys: readonly string[];
  readonly secretsDir: string | undefined;
  /** Key of hashes of tools' arguments in the log; undefined: arguments are not logged. */
  readonly auditKey: string | undefined;
  /** For `env://` references. */
  readonly env: Readonly<Record<string, string | undefined>>;
}
