/**
 * Connected mode of `gw serve` (docs/reference/gateway.md#connected-mode,
 * docs/decisions.md#artifact-optional-when-connected): artifacts come from a control plane, and the last good one is
 * kept for when it is away.
 */
import { randomUUID } from 'node:crypto';
import type { LoadedArchive } from '../artifact/index.ts';
import { ArtifactCache, type CacheOrigin } from '../link/artifact-cache.ts';
import { readCredentials } from '../link/credentials.ts';
import { type CloseReason, ControlPlaneLink, controlPlaneAddress, type LinkHost } from '../link/index.ts';
import type { Notice } from '../link/messages.ts';
import type { UpdateError } from '../link/update-error.ts';
import type { ControlPlaneOptions } from '../options/serve-options.ts';
import type { LinkFigures } from '../telemetry/link-metrics.ts';
import type { Log } from '../telemetry/log.ts';
import { messageOf } from '../text/message-of.ts';

export interface ConnectedModeDeps {
  readonly log: Log;
  /** Hex Ed25519 keys; empty: signatures are not checked. */
  readonly trustedKeys: readonly string[];
}

export class ConnectedMode {
  readonly #deps: ConnectedModeDeps;
  readonly #options: ControlPlaneOptions;
  readonly #cache: ArtifactCache | null;
  #origin: CacheOrigin;
  readonly #instanceId: string;
  readonly #updates = { applied: 0, refused: 0 };
  #link: ControlPlaneLink | null = null;
  #settled: boolean;
  #waiting: NodeJS.Timeout | undefined;

  private constructor(
    options: ControlPlaneOptions,
    deps: ConnectedModeDeps,
    { cache, instanceId }: { readonly cache: ArtifactCache | null; readonly instanceId: string },
  ) {
    this.#options = options;
    this.#deps = deps;
    this.#cache = cache;
    this.#instanceId = instanceId;
    this.#settled = options.waitSeconds === 0;
    const { base } = controlPlaneAddress(options.url);
    this.#origin = { controlPlane: base.href, projectId: options.projectId, startedFrom: null };
  }

  /** Rejects with LinkAddressError, without a key or certificate, and if `--cache-dir` is not writable. */
  static async open(options: ControlPlaneOptions, deps: ConnectedModeDeps): Promise<ConnectedMode> {
    const { exposed } = controlPlaneAddress(options.url);
    if (exposed) {
      deps.log.logger.warn('the link to the control plane is not encrypted, and the API key can be read: use wss://');
    }
    await readCredentials(options.credentials);
    if (options.cacheDir === undefined) {
      return new ConnectedMode(options, deps, { cache: null, instanceId: randomUUID() });
    }
    const cache = new ArtifactCache(options.cacheDir);
    try {
      await cache.prepare();
      return new ConnectedMode(options, deps, { cache, instanceId: await cache.instanceId() });
    } catch (error) {
      throw new Error(`cannot write into --cache-dir: ${messageOf(error)}`, { cause: error });
    }
  }

  /**
   * Returns the last good artifact; null without one. A damaged artifact, or one of another origin, is ignored with a
   * warning. `startedFrom`: `artifact_hash` of `--artifact`; null without one.
   */
  async cached(startedFrom: string | null): Promise<LoadedArchive | null> {
    this.#origin = { ...this.#origin, startedFrom };
    try {
      const cached = (await this.#cache?.read(this.#origin, this.#deps.trustedKeys)) ?? null;
      if (cached && cached.from !== this.#origin.controlPlane) {
        const line = { stored_from: cached.from, control_plane: this.#origin.controlPlane };
        this.#deps.log.logger.info(line, 'the cached artifact came from another address of the control plane');
      }
      return cached;
    } catch (error) {
      this.#deps.log.logger.warn({ reason: messageOf(error) }, 'the cached artifact is not used');
      return null;
    }
  }

  /** Connects; call it once, when the port is bound. `load` as in LinkHost. */
  start({ served, load }: Pick<LinkHost, 'served' | 'load'>): void {
    const { url, projectId, credentials, name, labels } = this.#options;
    const { trustedKeys } = this.#deps;
    const who = { projectId, name, labels, instanceId: this.#instanceId };
    const options = { controlPlane: url, ...who, ...credentials, trustedKeys };
    this.#link = new ControlPlaneLink(options, {
      served,
      load: async (loaded, notice) => {
        await load(loaded, notice);
        this.#updates.applied++;
        await this.#keep(loaded);
      },
      connected: (to) => this.#connected(to),
      disconnected: (why, refused) => this.#disconnected(why, refused),
      refused: (notice, error) => this.#refused(notice, error),
      settled: () => this.#settle(),
      drift: (drifted, wanted) => this.#drift(drifted, wanted),
    });
    this.#link.start();
    this.#waiting = setTimeout(() => this.#settle(), this.#options.waitSeconds * 1000).unref();
  }

  /** Readiness waits for the control plane's notice, or for the wanted artifact. */
  get awaited(): boolean {
    return !this.#settled;
  }

  get drifted(): boolean {
    return this.#link?.drifted ?? false;
  }

  figures(): LinkFigures {
    return { connected: this.#link?.connected ?? false, drifted: this.drifted, updates: this.#updates };
  }

  /** Retries a refused artifact. */
  retry(): void {
    this.#link?.retry();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#waiting);
    await this.#link?.stop();
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#waiting);
  }

  #connected({ dataPlaneId, controlPlane }: Parameters<LinkHost['connected']>[0]): void {
    const line = { control_plane: controlPlane, data_plane_id: dataPlaneId };
    this.#deps.log.logger.info(line, 'connected to the control plane');
  }

  #disconnected(reason: string, refused: CloseReason | null): void {
    const { logger } = this.#deps.log;
    if (refused === null) logger.warn({ reason }, 'not connected to the control plane: retrying');
    else logger.error({ reason, code: refused }, 'the control plane rejected this data plane: retrying');
  }

  #refused({ deployment_id, artifact_hash }: Notice, error: UpdateError): void {
    this.#updates.refused++;
    const line = { artifact_hash, deployment_id, code: error.reason, reason: error.message };
    this.#deps.log.logger.error(line, 'new artifact rejected: still serving the previous one');
  }

  #drift(drifted: boolean, wanted: string | null): void {
    if (drifted) this.#deps.log.logger.warn({ wanted }, 'drift: the control plane wants another artifact served');
    else this.#deps.log.logger.info({ wanted }, 'drift resolved');
  }

  /** Serving goes on even if storing fails. */
  async #keep(loaded: LoadedArchive): Promise<void> {
    try {
      await this.#cache?.store(loaded, this.#origin);
    } catch (error) {
      this.#deps.log.logger.warn({ reason: messageOf(error) }, 'could not store the artifact in --cache-dir');
    }
  }
}
