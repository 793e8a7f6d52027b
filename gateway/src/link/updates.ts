/** Applies the control plane's wanted artifact: fetch, verify, serve, report. One at a time, and the newest wins. */
import { setTimeout as wait } from 'node:timers/promises';
import type { LoadedArchive } from '../artifact/index.ts';
import { readArtifact } from '../artifact/index.ts';
import { Backoff, type RetryTimes } from './backoff.ts';
import { Download, type DownloadOptions } from './download.ts';
import type { Notice, Status } from './messages.ts';
import { UpdateError, updateError } from './update-error.ts';

export interface UpdateDeps extends DownloadOptions {
  readonly trustedKeys: readonly string[];
  readonly times: RetryTimes;
  /** `artifact_hash` that traffic is served from; null if no artifact is loaded. */
  served(): string | null;
  /** Serves it, in all workers, or rejects and keeps the previous artifact in service. */
  load(loaded: LoadedArchive, notice: Notice): Promise<void>;
  report(status: Status): void;
  /** A notice will not be served, or cannot be fetched so far. */
  refused(notice: Notice, error: UpdateError): void;
}

/** Failed fetches after which the control plane is told; the tries go on. */
const TELL_AFTER = 3;
/** Times that a file which is another one is fetched. */
const CHECKSUM_TRIES = 3;

export class Updates {
  readonly #deps: UpdateDeps;
  #wanted: Notice | null = null;
  /** Outcome of `#wanted`; null while it is open. */
  #outcome: Status | null = null;
  #abort = new AbortController();
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(deps: UpdateDeps) {
    this.#deps = deps;
  }

  /** Replaces the wanted artifact; an equal one is reported again. */
  want(notice: Notice): void {
    if (this.#wanted !== null && isSame(this.#wanted, notice)) {
      if (this.#outcome !== null) this.#deps.report(this.#outcome);
      if (this.#outcome !== null || this.#running !== null) return;
    }
    this.#begin(notice);
  }

  /** Retries a refused artifact: the caller has changed something. */
  retry(): void {
    if (this.#wanted !== null && this.#outcome?.outcome === 'refused') this.#begin(this.#wanted);
  }

  /** Resolves when all work has stopped. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#abort.abort();
    await this.#running;
  }

  #begin(notice: Notice): void {
    this.#wanted = notice;
    this.#outcome = null;
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Runs until the wanted artifact is settled. */
  async #run(): Promise<void> {
    while (!this.#stopped && this.#wanted !== null && this.#outcome === null) {
      const notice = this.#wanted;
      const { signal } = this.#abort;
      let error: UpdateError | null = null;
      try {
        await this.#update(notice, signal);
      } catch (cause) {
        if (signal.aborted) continue;
        error = updateError(cause);
        this.#deps.refused(notice, error);
      }
      if (!signal.aborted) this.#outcome = this.#report(notice, error);
    }
  }

  async #update(notice: Notice, signal: AbortSignal): Promise<void> {
    if (this.#deps.served() === notice.artifact_hash) return;
    const archive = await this.#fetch(notice, signal);
    const artifact = await readArtifact(archive, this.#deps);
    const { artifact_hash } = artifact.manifest;
    if (artifact_hash !== notice.artifact_hash) {
      throw new UpdateError('checksum', `its artifact_hash is ${artifact_hash}, not ${notice.artifact_hash}`);
    }
    signal.throwIfAborted();
    await this.#deps.load({ archive, artifact }, notice);
  }

  /** Fetches until the file is there, or is another file more than once. */
  async #fetch(notice: Notice, signal: AbortSignal): Promise<Uint8Array> {
    const download = new Download(notice, this.#deps);
    const backoff = new Backoff(this.#deps.times);
    let failures = 0;
    let others = 0;
    for (;;) {
      try {
        return await download.attempt(signal);
      } catch (cause) {
        signal.throwIfAborted();
        const error = updateError(cause);
        if (error.reason === 'checksum' && ++others === CHECKSUM_TRIES) throw error;
        if (++failures === TELL_AFTER) {
          this.#deps.refused(notice, error);
          this.#report(notice, error);
        }
        await wait(backoff.next(), undefined, { signal });
      }
    }
  }

  #report({ deployment_id, artifact_id }: Notice, error: UpdateError | null): Status {
    const status: Status = {
      type: 'status',
      deployment_id,
      artifact_id,
      artifact_hash: this.#deps.served(),
      outcome: error === null ? 'applied' : 'refused',
      reason: error?.reason ?? null,
      detail: error?.message.slice(0, 1024) ?? null,
    };
    this.#deps.report(status);
    return status;
  }
}

function isSame(one: Notice, other: Notice): boolean {
  return (
    one.deployment_id === other.deployment_id &&
    one.artifact_id === other.artifact_id &&
    one.sha256 === other.sha256 &&
    one.path === other.path
  );
}
