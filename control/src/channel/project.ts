/** A project with data planes connected to this process, and its desired artifact. */
import type { Connection } from './connection.ts';
import type { DesiredArtifact } from './ports.ts';

export class Project {
  readonly connections = new Set<Connection>();
  #wanted: DesiredArtifact | null = null;
  /** Grows with each announcement: an answer of the host that began before one is older than it. */
  #announced = 0;
  #asking: Promise<DesiredArtifact | null> | null = null;
  #deploying: Promise<boolean> | null = null;

  /** Reports whether the host has been asked, or has announced something. */
  get known(): boolean {
    return this.#announced > 0;
  }

  get wanted(): DesiredArtifact | null {
    return this.#wanted;
  }

  want(notice: DesiredArtifact | null): void {
    this.#announced++;
    this.#asking = null;
    // Each data plane has its own grace to follow.
    if (notice?.artifact_hash !== this.#wanted?.artifact_hash) {
      for (const connection of this.connections) connection.differsSince = null;
    }
    this.#wanted = notice;
  }

  /**
   * Asks the host for the desired artifact; one call at a time. Returns undefined if an announcement came meanwhile,
   * which is newer.
   */
  async ask(wanted: () => Promise<DesiredArtifact | null>): Promise<DesiredArtifact | null | undefined> {
    const announced = this.#announced;
    const asking = this.#asking ?? wanted();
    this.#asking = asking;
    try {
      const answer = await asking;
      return this.#announced === announced ? answer : undefined;
    } finally {
      if (this.#asking === asking) this.#asking = null;
    }
  }

  /** Asks whether a deployment is in progress; one call at a time. */
  deploying(ask: () => Promise<boolean>): Promise<boolean> {
    this.#deploying ??= ask().finally(() => {
      this.#deploying = null;
    });
    return this.#deploying;
  }
}
