/**
 * The data plane's end of the link (docs/data-plane-protocol.md): connects, stays connected, and applies the artifact
 * that the control plane wants. Failures here leave the served artifact in place.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { ARTIFACT_VERSION } from '../artifact/format.ts';
import type { LoadedArchive } from '../artifact/index.ts';
import { messageOf } from '../text/message-of.ts';
import { VERSION } from '../version.ts';
import { type ControlPlaneAddress, controlPlaneAddress } from './address.ts';
import { Backoff, RETRY_TIMES, type RetryTimes } from './backoff.ts';
import type { CloseReason } from './close-codes.ts';
import { type CredentialSource, type Credentials, readCredentials } from './credentials.ts';
import type { Hello, Notice, Welcome } from './messages.ts';
import { Session, type SessionEnd } from './session.ts';
import type { UpdateError } from './update-error.ts';
import { Updates } from './updates.ts';

export interface LinkOptions extends CredentialSource {
  /** WebSocket URL of the control plane. */
  readonly controlPlane: string;
  /** UUID. */
  readonly projectId: string;
  /** Shown to people. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The same for the same instance when it connects again. */
  readonly instanceId: string;
  /** Hex Ed25519 keys; empty: signatures are not checked. */
  readonly trustedKeys: readonly string[];
  /** Default RETRY_TIMES. */
  readonly times?: Partial<RetryTimes>;
}

/** Callbacks of the link to its gateway. */
export interface LinkHost {
  /** `artifact_hash` that traffic is served from; null if no artifact is loaded. */
  served(): string | null;
  /** Serves it, in all workers; or rejects, and the previous artifact stays in service. */
  load(loaded: LoadedArchive, notice: Notice): Promise<void>;
  connected(to: { readonly dataPlaneId: string; readonly controlPlane: string }): void;
  /** Called after a connection, after a refusal for another reason than before, or when the first connection fails. */
  disconnected(why: string, refused: CloseReason | null): void;
  refused(notice: Notice, error: UpdateError): void;
  /** The wanted artifact is served, or will not be for now; or the control plane wants no artifact. */
  settled?(): void;
  drift(drifted: boolean, wanted: string | null): void;
}

/** Part of `slowMs` by which such a try is early or late. */
const SLOW_SPREAD = 0.2;

export class ControlPlaneLink {
  /** The control plane reports that the served artifact is not the wanted one. */
  drifted = false;
  readonly #options: LinkOptions;
  readonly #host: LinkHost;
  readonly #address: ControlPlaneAddress;
  readonly #times: RetryTimes;
  readonly #updates: Updates;
  readonly #stopping = new AbortController();
  #session: Session | null = null;
  #connected = false;
  /** Last reported reason for the missing connection; null while connected. */
  #said: string | null = null;
  #running: Promise<void> | null = null;

  /** Throws LinkAddressError. */
  constructor(options: LinkOptions, host: LinkHost) {
    this.#options = options;
    this.#host = host;
    this.#address = controlPlaneAddress(options.controlPlane);
    this.#times = { ...RETRY_TIMES, ...options.times };
    this.#updates = new Updates({
      base: this.#address.base,
      credentials: options,
      trustedKeys: options.trustedKeys,
      times: this.#times,
      served: () => host.served(),
      load: (loaded, notice) => host.load(loaded, notice),
      refused: (notice, error) => host.refused(notice, error),
      report: (status) => {
        this.#session?.report(status);
        host.settled?.();
      },
    });
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Connects, and again whenever that ends, until `stop`. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Tries an artifact again that was refused: secrets may be there now. */
  retry(): void {
    this.#updates.retry();
  }

  /** Resolves when all work has stopped: connection, download, load. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#session?.close();
    await Promise.all([this.#updates.stop(), this.#running]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = new Backoff(this.#times);
    while (!signal.aborted) {
      const end = await this.#connect(signal);
      if (signal.aborted) return;
      this.#left(end);
      if (end.lastedMs >= this.#times.stableMs) backoff.reset();
      await wait(this.#pause(end, backoff), undefined, { signal }).catch(() => {});
    }
  }

  /** Runs one connection, from its credentials to its end. */
  async #connect(signal: AbortSignal): Promise<SessionEnd> {
    let credentials: Credentials;
    try {
      credentials = await readCredentials(this.#options);
    } catch (error) {
      return { why: messageOf(error), refused: null, retry: 'backoff', afterMs: null, lastedMs: 0 };
    }
    const events = {
      welcomed: (welcome: Welcome) => this.#welcomed(welcome),
      wanted: (notice: Notice) => this.#updates.want(notice),
      drift: ({ drifted, wanted }: { drifted: boolean; wanted: string | null }) => this.#drift(drifted, wanted),
      served: () => this.#host.served(),
    };
    const session = new Session(this.#address.socket, () => this.#hello(credentials.apiKey), events, credentials.ca);
    this.#session = session;
    if (signal.aborted) session.close();
    const end = await session.ended;
    this.#session = null;
    this.#connected = false;
    return end;
  }

  #hello(apiKey: string): Hello {
    const { projectId, name, instanceId, labels } = this.#options;
    return {
      type: 'hello',
      api_key: apiKey,
      project_id: projectId,
      name,
      instance_id: instanceId,
      gw_version: VERSION,
      artifact_versions: [ARTIFACT_VERSION],
      artifact_hash: this.#host.served(),
      labels,
    };
  }

  #welcomed({ data_plane_id: dataPlaneId, artifact }: Welcome): void {
    this.#connected = true;
    this.#said = null;
    // The control plane reports drift anew.
    this.drifted = false;
    this.#host.connected({ dataPlaneId, controlPlane: this.#address.base.origin });
    if (artifact === null) this.#host.settled?.();
  }

  #drift(drifted: boolean, wanted: string | null): void {
    this.drifted = drifted;
    this.#host.drift(drifted, wanted);
  }

  /** Reports the same reason only once, however often the link tries again. */
  #left({ why, refused }: SessionEnd): void {
    if (this.#said === why) return;
    this.#said = why;
    this.#host.disconnected(why, refused);
  }

  /** Milliseconds until the next try. */
  #pause({ retry, afterMs }: SessionEnd, backoff: Backoff): number {
    if (afterMs !== null) return afterMs;
    if (retry === 'backoff') return backoff.next();
    return this.#times.slowMs * (1 - SLOW_SPREAD / 2 + SLOW_SPREAD * Math.random());
  }
}
