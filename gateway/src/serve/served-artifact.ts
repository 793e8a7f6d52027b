/** The artifact that a gateway serves: the source of its first one, and its replacements. */

import type { LoadedArchive } from '../artifact/index.ts';
import { type Artifact, ArtifactError, readArtifact, readSource } from '../artifact/index.ts';
import type { ServeOptions } from '../options/serve-options.ts';
import type { Log } from '../telemetry/log.ts';
import { messageOf } from '../text/message-of.ts';
import type { Traffic } from '../traffic/traffic.ts';
import type { ConnectedMode } from './connected-mode.ts';

type Source = 'file' | 'cache' | 'control plane';
type Options = Pick<ServeOptions, 'artifact' | 'trustedKeys'>;

export class ServedArtifact {
  readonly #options: Options;
  readonly #log: Log;
  #loaded: LoadedArchive | null = null;
  #from: Source = 'file';
  /** Loads run one at a time, so that the last one is served. */
  #loading: Promise<unknown> = Promise.resolve();

  constructor(options: Options, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /** The served artifact; null before the control plane's first. */
  get artifact(): Artifact | null {
    return this.#loaded?.artifact ?? null;
  }

  /** Names of its upstreams whose addresses are bound to it. */
  get upstreams(): readonly string[] {
    return Object.keys(this.artifact?.routes.upstreams ?? {});
  }

  get hash(): string | null {
    return this.artifact?.manifest.artifact_hash ?? null;
  }

  /** `--artifact`; null without it. Rejects with ArtifactError. */
  async readFile(): Promise<LoadedArchive | null> {
    const { artifact: path, trustedKeys } = this.#options;
    return path === undefined ? null : read(path, trustedKeys);
  }

  /**
   * Like `readFile`, for the start. With a control plane the file may be missing: a volume whose ConfigMap is gone must
   * not keep a gateway from its cached artifact.
   */
  async readFirst(connected: boolean): Promise<LoadedArchive | null> {
    try {
      return await this.readFile();
    } catch (error) {
      if (!connected || !(error instanceof ArtifactError) || error.reason !== 'unreadable') throw error;
      this.#log.logger.warn({ reason: error.message }, 'waiting for the control plane: --artifact does not exist');
      return null;
    }
  }

  /** Loads the last good artifact of the control plane, or else that in `file`. Rejects as `Traffic.load`. */
  async loadFirst(file: LoadedArchive | null, traffic: Traffic, connected: ConnectedMode | null): Promise<void> {
    const cached = await connected?.cached(file?.artifact.manifest.artifact_hash ?? null);
    if (cached) {
      try {
        return await this.#take(cached, 'cache', traffic);
      } catch (error) {
        this.#log.logger.warn({ reason: messageOf(error) }, 'the cached artifact is not used');
      }
    }
    if (file !== null) await this.#take(file, 'file', traffic);
  }

  /** Loads the control plane's artifact. Rejects as `Traffic.load`, and the previous one stays in service. */
  load(next: LoadedArchive, traffic: Traffic): Promise<void> {
    return this.#inTurn(() => this.#take(next, 'control plane', traffic));
  }

  /**
   * Reloads current secrets, for the current file if the served artifact came from it, or for the control plane's
   * artifact.
   */
  reload(traffic: Traffic): Promise<void> {
    return this.#inTurn(async () => {
      const next = this.#from === 'file' ? await this.readFile() : this.#loaded;
      if (next !== null) await this.#take(next, this.#from, traffic);
    });
  }

  async #take(next: LoadedArchive, from: Source, traffic: Traffic): Promise<void> {
    await traffic.load(next);
    this.#loaded = next;
    this.#from = from;
    const { artifact_hash, routes_count, plugins } = next.artifact.manifest;
    const names = (plugins ?? []).map(({ name, version }) => `${name}@${version}`);
    this.#log.logger.info({ artifact_hash, routes: routes_count, plugins: names, from }, 'artifact loaded');
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#loading.then(work);
    this.#loading = turn.catch(() => {});
    return turn;
  }
}

/** Names the file in errors of loading. */
async function read(path: string, trustedKeys: readonly string[]): Promise<LoadedArchive> {
  try {
    const archive = await readSource(path);
    return { archive, artifact: await readArtifact(archive, { trustedKeys }) };
  } catch (error) {
    if (!(error instanceof ArtifactError) || error.message.includes(path)) throw error;
    throw new ArtifactError(error.reason, `${path}: ${error.message}`, { cause: error });
  }
}
