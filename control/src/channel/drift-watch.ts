/** Detects that a data plane serves another artifact than desired, and notifies it and the host, once each way. */
import type { Connection } from './connection.ts';
import { reads } from './desired-artifact.ts';
import type { ChannelPorts } from './ports.ts';
import type { Project } from './project.ts';

export class DriftWatch {
  readonly #ports: ChannelPorts;
  readonly #graceMs: number;

  constructor(ports: ChannelPorts, graceMs: number) {
    this.#ports = ports;
    this.#graceMs = graceMs;
  }

  /** Compares after a change of either: the grace begins, or drift is resolved. */
  compare(connection: Connection, project: Project): void {
    const { plane } = connection;
    if (plane === null || !connection.welcomed) return;
    const { wanted } = project;
    const differs = wanted !== null && reads(plane, wanted) && wanted.artifact_hash !== plane.artifactHash;
    if (differs) {
      connection.differsSince ??= performance.now();
      return;
    }
    connection.differsSince = null;
    if (plane.drifted) this.#say(connection, project, false);
  }

  /** Called at intervals: after the grace it is drift, unless a deployment is in progress. */
  async look(connection: Connection, project: Project): Promise<void> {
    const { plane, differsSince } = connection;
    if (plane === null || plane.drifted || differsSince === null) return;
    if (performance.now() - differsSince < this.#graceMs) return;
    const isDeploying = await project.deploying(() => this.#deploying(plane.projectId));
    if (connection.differsSince === null || connection.ended) return;
    // The state after a deployment has its own grace.
    if (isDeploying) connection.differsSince = performance.now();
    else if (!plane.drifted) this.#say(connection, project, true);
  }

  /** Returns true if the host cannot answer: it is asked again after another grace. */
  async #deploying(projectId: string): Promise<boolean> {
    try {
      return await this.#ports.deploying(projectId);
    } catch (error) {
      this.#ports.failed(error);
      return true;
    }
  }

  #say(connection: Connection, project: Project, drifted: boolean): void {
    const { plane } = connection;
    if (plane === null) return;
    plane.drifted = drifted;
    const wanted = project.wanted?.artifact_hash ?? null;
    connection.say({ type: 'drift', drifted, wanted });
    const report = { drifted, wanted, served: plane.artifactHash };
    void connection.tell((told) => this.#ports.drifted(told, report), this.#ports);
  }
}
