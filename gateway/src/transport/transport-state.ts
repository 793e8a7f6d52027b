/** What both protocols of a port share: settings, limits, and the state of its connections. */
import type { Exchange } from '../exchange.ts';
import type { CountedLimit, LimitOutcome } from '../telemetry/metric-table.ts';
import type { Refused } from '../telemetry/recorder.ts';
import type { ClientAuth } from './client-certificate.ts';
import type { Drain } from './drain.ts';
import type { HeaderMemory } from './header-memory.ts';
import type { StallDetector } from './stall-detector.ts';
import type { KeyPair, TlsVersion } from './tls.ts';
import type { UnreadResponses } from './unread-responses.ts';
import type { UpgradedConnections } from './upgraded.ts';

export interface TransportLimits {
  /** Bytes (`--max-body-size`). */
  readonly maxBodySize: number;
  readonly maxHeaders: number;
  /** Bytes of one header, name and value. */
  readonly maxHeaderSize: number;
  /** Bytes of all headers, names and values. */
  readonly maxHeaderBytes: number;
  /** Bytes. */
  readonly maxUriLength: number;
  /** Milliseconds idle between requests. */
  readonly keepAliveTimeoutMs: number;
  /** Milliseconds for a TLS handshake, and for a request's head; then 408, or the end of a silent connection. */
  readonly headersTimeoutMs: number;
  /** Milliseconds without a byte of a body that is waited for; then 408. 0: no limit. */
  readonly bodyTimeoutMs: number;
  /** Milliseconds in which a client takes no byte of a response that waits for it; then it is cut off. 0: no limit. */
  readonly sendTimeoutMs: number;
  /** Streams that a client may have open at once on an HTTP/2 connection (docs/decisions.md#http2-limits). */
  readonly http2MaxStreams: number;
  /**
   * Streams that a client may reset at once, before its HTTP/2 connection ends (docs/decisions.md#http2-limits, rapid
   * reset).
   */
  readonly http2MaxResets: number;
  /** Milliseconds between pings of an HTTP/2 connection; one unanswered until the next ends it. */
  readonly pingIntervalMs: number;
}

export interface TransportEvents {
  request(exchange: Exchange): void;
  connectionOpened(): void;
  connectionClosed(): void;
  /** A limit that clients share was reached. */
  yielded(limit: CountedLimit, outcome: LimitOutcome, owner: string): void;
  /** The bytes were not a servable request: 400, 408 or 431, which the transport has sent. */
  refused(refused: Refused): void;
  /** A listener failed, which is a defect: its connection has ended, and others go on. */
  crashed(error: unknown): void;
}

export interface TlsSettings {
  readonly keyPair: KeyPair;
  readonly minVersion: TlsVersion;
  readonly clientAuth: ClientAuth;
}

/** State that both protocols share. */
export interface TransportState {
  readonly limits: TransportLimits;
  readonly events: TransportEvents;
  readonly drain: Drain;
  readonly headerMemory: HeaderMemory;
  readonly slowSenders: StallDetector;
  readonly slowReaders: StallDetector;
  readonly unread: UnreadResponses;
  /** Connections that have left HTTP. */
  readonly upgraded: UpgradedConnections;
}
