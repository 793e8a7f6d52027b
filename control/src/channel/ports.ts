/**
 * The interface of a host of the data-plane channel: the REST control plane, on its database, and the operator, on its
 * objects (docs/decisions.md#later-artifacts-over-link). The channel holds connections and knows nothing of either.
 */
import type { CloseReason, Hello, Notice, Status } from '@gw/gateway/link-protocol';

/** A data plane that has been let in, in its current state. */
export interface DataPlane {
  /** UUID of this connection; each connect has another one. */
  readonly connectionId: string;
  /** The host's id of it, the same each time. */
  readonly dataPlaneId: string;
  readonly projectId: string;
  /** Id of the key or token that it authenticated with, for `revoke`. */
  readonly keyId: string;
  readonly name: string;
  readonly instanceId: string;
  /** Version of gw. */
  readonly version: string;
  /** Artifact formats that it reads (docs/decisions.md#version-skew). */
  readonly artifactVersions: readonly number[];
  readonly labels: Readonly<Record<string, string>>;
  /** Address of the peer, or of the proxy before us. Null if it has already gone. */
  readonly address: string | null;
  readonly connectedAt: Date;
  /** The artifact that it last reported to serve; null before its first artifact. */
  readonly artifactHash: string | null;
  /** It has served another artifact than desired for longer than the grace, with no deployment in progress. */
  readonly drifted: boolean;
}

/** Lets a data plane in. */
export interface Admission {
  readonly dataPlaneId: string;
  /** In the host's form: `announce` and `wanted` use the same. */
  readonly projectId: string;
  readonly keyId: string;
}

/** A refusal, which the data plane receives and logs. */
export interface Refusal {
  readonly refused: CloseReason;
  /** The error and its remedy; never the key. */
  readonly detail: string;
}

/** A notice, with the data for its recipients. */
export interface DesiredArtifact extends Notice {
  /**
   * Version of its format: a data plane that cannot read it is not notified, and keeps its artifact
   * (docs/decisions.md#version-skew). Default: all are notified.
   */
  readonly artifact_version?: number;
}

export interface DriftReport {
  readonly drifted: boolean;
  /** `artifact_hash` of each; null without an artifact. */
  readonly wanted: string | null;
  readonly served: string | null;
}

/**
 * Calls from the channel to its host. For one data plane the calls come one after the other in the order of events:
 * `connected`, then any of the others, then `disconnected`. A promise that rejects goes to `failed`; before `welcome`
 * it also closes the connection as `unavailable`, and the data plane connects again.
 */
export interface ChannelPorts {
  /**
   * Looks the key up by its hash, compared in constant time; refuses with `bad-key`, `revoked` (if it is known to have
   * been), `unknown-project` (the key is another project's; the answer says no more), `unsupported-version` or
   * `too-many`. Finds or creates the data plane of `(projectId, hello.instance_id)`. The hello is validated; its key
   * must not be logged. If a key is revoked while this is awaited, the host must refuse it, or revoke it again
   * afterwards.
   */
  authenticate(hello: Hello, peer: { readonly address: string | null }): Promise<Admission | Refusal>;
  /**
   * Returns the artifact that all data planes of the project should serve; null: none, and each keeps its own. Called
   * when one connects and, for projects with connected ones, every `pollMs`: a lost notification delays an update, but
   * loses none. Calls for one project do not overlap.
   */
  wanted(projectId: string): Promise<DesiredArtifact | null>;
  /** Reports whether a deployment is in progress, during which a difference is not drift. */
  deploying(projectId: string): boolean | Promise<boolean>;
  /**
   * Called once it is let in; `welcome` is sent when this resolves. A host with several replicas records its replica.
   */
  connected(plane: DataPlane): void | Promise<void>;
  /** Called for each heartbeat. Record it seldom: a thousand data planes send 67 a second. */
  seen(plane: DataPlane): void | Promise<void>;
  /** Called with the result of a notice; the last one for a notice holds. */
  reported(plane: DataPlane, status: Status): void | Promise<void>;
  /** Called once when drift begins and once when it ends; for the audit log. */
  drifted(plane: DataPlane, report: DriftReport): void | Promise<void>;
  /**
   * Called when it has gone. Another connection of the same data plane may exist already, here or at another replica:
   * compare `connectionId` before recording that it is away. `reason` is a close reason, `closed` (it closed, or the
   * network did) or `drained`.
   */
  disconnected(plane: DataPlane, reason: DisconnectReason): void | Promise<void>;
  /** Called when a call of the host failed, for its log. */
  failed(error: unknown): void;
}

export type DisconnectReason = CloseReason | 'closed' | 'drained';

export interface ChannelOptions {
  /** Milliseconds between heartbeats; default 15,000. Three without one end the connection. */
  readonly heartbeatMs?: number;
  /** Milliseconds for the first message; default 10,000. */
  readonly helloMs?: number;
  /** Milliseconds for which the served artifact may differ from the desired one; default 60,000. */
  readonly driftGraceMs?: number;
  /** Milliseconds between calls of `wanted`; default 30,000. */
  readonly pollMs?: number;
  /**
   * Maximum number of admitted data planes; default 10,000. Past it, one of the project that has most makes room for
   * one of another project; others are refused as `too-many`.
   */
  readonly maxConnections?: number;
  /**
   * Connections that have sent no hello, or were refused and have not gone; default 2,000. Past it, each new one cuts
   * off the oldest of the address (IPv6: /64) that has most of them. An upgrade gets 503 only if no such connection is
   * left.
   */
  readonly maxSilent?: number;
  /** Hellos that the host is asked about at once; default 16. The others wait, and addresses take turns. */
  readonly maxAdmissions?: number;
  /** Bytes that wait for one data plane to read them; default 65,536. Past it, the data plane is cut off. */
  readonly maxWaitingBytes?: number;
  /** Messages that one data plane may send in ten seconds; default 100. */
  readonly maxMessages?: number;
}

/** Counts for metrics. Those named `…Total` only grow. */
export interface ChannelCounts {
  readonly connected: number;
  /** Connections that have not been let in yet. */
  readonly pending: number;
  readonly drifted: number;
  readonly connectedTotal: number;
  readonly announcedTotal: number;
  readonly appliedTotal: number;
  readonly refusedTotal: number;
  /** Connections that we ended, by reason. */
  readonly closedTotal: Readonly<Partial<Record<DisconnectReason, number>>>;
}
