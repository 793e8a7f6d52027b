/** Messages between the parent process and its workers. */
import type { AddressInfo } from 'node:net';
import type { Bindings } from '../egress/named/bindings.ts';
import type { NamedUpstreamFigures } from '../egress/named/upstream-bindings.ts';
import type { ServeOptions } from '../options/serve-options.ts';
import type { OwnerPath } from '../shares/owner-path.ts';
import type { BudgetRenewal, BudgetReservation, BudgetResult, BudgetSettlement } from '../state/budget-store.ts';
import type { NonceVerdict, SignedNonce } from '../state/nonce-store.ts';
import type { LeaseSettlement, QuotaAnswer, QuotaRequest } from '../state/quota-lease.ts';
import type { RecordRequest, Reservation, ReservationRequest } from '../state/reservation-store.ts';
import type { OpenedSession } from '../state/session-store.ts';
import type { Level } from '../telemetry/log.ts';
import type { TraceReport } from '../trace/report.ts';
import type { TraceRequest } from '../trace/request.ts';
import type { Eviction } from '../transport/connection-shares.ts';
import type { KeyPair } from '../transport/tls.ts';

export interface WorkerSettings {
  readonly options: ServeOptions;
  readonly logLevel: Level;
  readonly keyPair: KeyPair | null;
  readonly bindings: Bindings;
}

/** File descriptor of a worker's end of the stream for shared state. */
export const STATE_FD = 4;

/** One metric as prom-client has it in JSON. */
export type MetricsSnapshot = readonly object[];

/** Calls of the parent to a worker. */
export interface WorkerMethods {
  /** First of all. */
  configure(settings: WorkerSettings): Promise<void>;
  /** Loads an artifact beside the served one. */
  prepare(archive: Uint8Array): Promise<void>;
  /** Serves the prepared artifact, or drops it. */
  commit(): void;
  discard(): void;
  /** After the first commit; all workers bind the same port. */
  listen(port: number): Promise<AddressInfo>;
  useTls(keyPair: KeyPair): void;
  bindUpstreams(bindings: Bindings): Promise<void>;
  upstreams(): Promise<readonly NamedUpstreamFigures[]>;
  setLogLevel(level: Level): Promise<void>;
  metrics(): Promise<MetricsSnapshot>;
  /** Resolves with null if no artifact is loaded. */
  trace(asked: { readonly request: TraceRequest; readonly peer: string }): Promise<TraceReport | null>;
  beginDrain(): void;
  closeKept(withinMs: number): void;
  /** Ends a connection for others. Returns its owner, or null if no connection can end. */
  endOneOf(eviction: Eviction): string | null;
  /** Resolves when the last connection has ended. */
  close(timeoutMs: number): Promise<void>;
}

interface CacheArguments {
  readonly owner: OwnerPath;
  readonly key: string;
  /** Base64. */
  readonly value: string;
  readonly ttlSeconds: number;
}

/** Calls of the parent to a worker on the stream for shared state. */
export interface LeaseRecalls {
  /** Ends a lease; null if it has ended. */
  recallLease(id: number): LeaseSettlement | null | Promise<LeaseSettlement | null>;
}

/**
 * Calls of a worker to its parent, on a stream of its own: the state that all workers share
 * (docs/decisions.md#counted-over-workers).
 */
export interface SharedState {
  /** Takes a place by its owner: the network of the client, or null if that is a trusted proxy. */
  takeConnection(owner: string | null): boolean | Promise<boolean>;
  releaseConnections(owners: readonly (string | null)[]): void;
  takeRateLimit(request: QuotaRequest): QuotaAnswer | Promise<QuotaAnswer>;
  settleLeases(settled: readonly LeaseSettlement[]): void;
  enterNonce(nonce: SignedNonce): NonceVerdict | Promise<NonceVerdict>;
  reserve(request: ReservationRequest): Reservation | Promise<Reservation>;
  recordReserved(request: RecordRequest): boolean | Promise<boolean>;
  releaseReserved(reserved: { readonly key: string; readonly token: string }): void;
  reserveBudget(reservation: BudgetReservation): BudgetResult | Promise<BudgetResult>;
  settleBudget(settlement: BudgetSettlement): boolean | Promise<boolean>;
  renewBudget(renewal: BudgetRenewal): boolean | Promise<boolean>;
  openSession(session: OpenedSession): void;
  useSession(id: string): string | null;
  endSession(id: string): boolean;
  /** Base64, or null. */
  getCached(key: string): string | null;
  setCached(entry: CacheArguments): void;
  deleteCached(key: string): void;
}
