/**
 * The control plane's end of the data-plane link (docs/data-plane-protocol.md): holds the connections of one process,
 * sends data planes their desired artifact, and reports results to the host. Knows no database and no HTTP framework.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type Heartbeat,
  type Hello,
  LINK_PATH,
  MAX_MESSAGE_BYTES,
  readToControl,
  type Status,
  SUBPROTOCOL,
} from '@gw/gateway/link-protocol';
import { type WebSocket, WebSocketServer } from 'ws';
import { Connection } from './connection.ts';
import { isSame, noticeOf, reads } from './desired-artifact.ts';
import { DriftWatch } from './drift-watch.ts';
import { LinkSocket } from './link-socket.ts';
import { Newcomers } from './newcomers.ts';
import type {
  ChannelCounts,
  ChannelOptions,
  ChannelPorts,
  DataPlane,
  DesiredArtifact,
  DisconnectReason,
} from './ports.ts';
import { Project } from './project.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';

const DEFAULTS: Required<ChannelOptions> = {
  heartbeatMs: 15_000,
  helloMs: 10_000,
  driftGraceMs: 60_000,
  pollMs: 30_000,
  maxConnections: 10_000,
  maxSilent: 2_000,
  maxAdmissions: 16,
  maxWaitingBytes: 64 << 10,
  maxMessages: 100,
};
/** Limits of frames and pieces per message that the network may make: 16 KiB come in twelve packets. */
const PIECES = { maxFragments: 512, maxBufferedChunks: 512 };
/** Heartbeats that may be missed. */
const MISSED = 3;
/** The host has this many times as long to answer a hello as there is for one to come. */
const HOST_TIMES = 2;
const UNAVAILABLE = 'The control plane cannot answer now: try again.';
const FULL = 'Too many data planes are connected: run another replica of the control plane, or fewer data planes.';
const REPLACED = 'Another connection has this instance id: give each instance a --cache-dir of its own.';
/** Milliseconds in which messages are counted. */
const MESSAGE_WINDOW_MS = 10_000;
/** Milliseconds that the other end has to answer a close. */
const CLOSE_MS = 5_000;

export class DataPlaneChannel {
  readonly #ports: ChannelPorts;
  readonly #options: Required<ChannelOptions>;
  readonly #drift: DriftWatch;
  readonly #server: WebSocketServer;
  readonly #connections = new Set<Connection>();
  readonly #newcomers: Newcomers;
  /** Admitted connections, by the host's id. */
  readonly #planes = new Map<string, Connection>();
  /** Projects with a connected data plane. */
  readonly #projects = new Map<string, Project>();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #closed = new Map<DisconnectReason, number>();
  /** The host's calls about connections that have ended. */
  readonly #leaving = new Set<Promise<void>>();
  #connectedTotal = 0;
  #announcedTotal = 0;
  #appliedTotal = 0;
  #refusedTotal = 0;
  #draining = false;

  constructor(ports: ChannelPorts, options: ChannelOptions = {}) {
    this.#ports = ports;
    this.#options = { ...DEFAULTS, ...options };
    const { heartbeatMs, helloMs, driftGraceMs, pollMs } = this.#options;
    this.#drift = new DriftWatch(ports, driftGraceMs);
    this.#newcomers = new Newcomers(this.#options, (connection, hello) => this.#letIn(connection, hello));
    this.#server = new WebSocketServer({
      noServer: true,
      WebSocket: LinkSocket,
      clientTracking: false,
      maxPayload: MAX_MESSAGE_BYTES,
      ...PIECES,
      perMessageDeflate: false,
      handleProtocols: () => SUBPROTOCOL,
    });
    const sweepMs = Math.max(10, Math.min(1000, heartbeatMs / 2, helloMs / 2, driftGraceMs / 2));
    this.#timers = [
      setInterval(() => this.#sweep(), sweepMs).unref(),
      setInterval(() => void this.refresh(), pollMs).unref(),
      setInterval(() => {
        for (const connection of this.#connections) connection.resetMessages();
      }, MESSAGE_WINDOW_MS).unref(),
    ];
  }

  /**
   * Takes over an upgrade of a node:http server: call it from the server's `upgrade` event for `/ws/data-plane`. Any
   * other path, and a client that does not offer the subprotocol, gets a problem document.
   */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = request.url?.split('?')[0];
    if (path !== LINK_PATH) {
      return refuseUpgrade(socket, { status: 404, type: 'not-found', detail: `The WebSocket is at ${LINK_PATH}.` });
    }
    const offered = request.headers['sec-websocket-protocol']?.split(',').map((each) => each.trim());
    if (!offered?.includes(SUBPROTOCOL)) {
      const detail = `Offer the WebSocket subprotocol ${SUBPROTOCOL}: this control plane speaks no other.`;
      return refuseUpgrade(socket, { status: 400, type: 'bad-request', detail });
    }
    if (this.#draining || !this.#hasRoom()) {
      const detail = this.#draining ? 'This control plane is closing.' : 'Too many data planes are connected.';
      return refuseUpgrade(socket, { status: 503, type: 'unavailable', detail });
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      this.#open(webSocket, request.socket.remoteAddress ?? null);
    });
  }

  /**
   * Sends the new desired artifact, or null, to a project's data planes that are connected here. Each replica calls it
   * for a deployment, also for those of other replicas. Returns how many were notified.
   */
  announce(projectId: string, wanted: DesiredArtifact | null): number {
    const project = this.#projects.get(projectId);
    if (!project) return 0;
    project.want(wanted);
    let told = 0;
    if (wanted !== null) {
      const text = JSON.stringify({ type: 'artifact', ...noticeOf(wanted) });
      for (const connection of project.connections) {
        if (!connection.welcomed || !connection.plane || !reads(connection.plane, wanted)) continue;
        connection.send(text);
        told++;
      }
    }
    for (const connection of project.connections) this.#drift.compare(connection, project);
    this.#announcedTotal += told;
    return told;
  }

  /** Asks the host for the desired artifact, of one project or of all with data planes here, and announces changes. */
  async refresh(projectId?: string): Promise<void> {
    const ids = projectId === undefined ? [...this.#projects.keys()] : [projectId];
    for (const id of ids) {
      const project = this.#projects.get(id);
      if (!project) continue;
      await this.#ask(id, project).catch((error: unknown) => this.#ports.failed(error));
    }
  }

  /** Closes a data plane's connection, if it is here; it may reconnect. Returns whether it was here. */
  disconnect(dataPlaneId: string, detail = 'Someone disconnected this data plane.'): boolean {
    const connection = this.#planes.get(dataPlaneId);
    connection?.refuse('disconnected', detail);
    return connection !== undefined;
  }

  /** Closes the connection of a data plane that has a newer one at another host, unless ours is the newer one. */
  replaced(dataPlaneId: string, connectionId: string): void {
    const connection = this.#planes.get(dataPlaneId);
    // A connection that is being let in is newer than the host's record.
    if (connection?.welcomed && connection.plane?.connectionId !== connectionId)
      connection.refuse('replaced', REPLACED);
  }

  /** Closes every connection that was made with the key, also those that are being let in. Returns how many. */
  revoke(keyId: string): number {
    const ofKey = this.#matching((plane) => plane.keyId === keyId);
    for (const connection of ofKey)
      connection.refuse('revoked', 'The API key was revoked: give this data plane another.');
    for (const connection of this.#connections) if (!connection.plane) connection.barred.add(keyId);
    return ofKey.length;
  }

  /** As `revoke`, for a deleted project. */
  removeProject(projectId: string): number {
    const ofProject = this.#matching((plane) => plane.projectId === projectId);
    for (const connection of ofProject) connection.refuse('unknown-project', 'The project was deleted.');
    for (const connection of this.#connections) if (!connection.plane) connection.barred.add(projectId);
    return ofProject.length;
  }

  /** Returns the data planes connected here, of one project or of all, each in its current state. */
  planes(projectId?: string): readonly DataPlane[] {
    return this.#matching((plane) => projectId === undefined || plane.projectId === projectId).flatMap(
      ({ plane }) => plane ?? [],
    );
  }

  counts(): ChannelCounts {
    return {
      connected: this.#planes.size,
      pending: this.#matching(() => true, false).length,
      drifted: this.#matching((plane) => plane.drifted).length,
      connectedTotal: this.#connectedTotal,
      announcedTotal: this.#announcedTotal,
      appliedTotal: this.#appliedTotal,
      refusedTotal: this.#refusedTotal,
      closedTotal: Object.fromEntries(this.#closed),
    };
  }

  /**
   * Accepts no new connections, tells data planes to reconnect elsewhere, spread over `spreadMs` (default 1,000), and
   * resolves when all have gone, at the latest after `timeoutMs` (default 5,000).
   */
  async drain({ spreadMs = 1_000, timeoutMs = 5_000 } = {}): Promise<void> {
    this.#draining = true;
    for (const connection of this.#connections) connection.goodbye(Math.floor(Math.random() * spreadMs));
    const late = setTimeout(() => {
      for (const connection of this.#connections) connection.cut('drained');
    }, timeoutMs);
    await this.#gone();
    clearTimeout(late);
    await this.close();
  }

  /** Cuts every connection; resolves when the host has been informed. */
  async close(): Promise<void> {
    this.#draining = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (const connection of this.#connections) connection.cut('drained');
    await this.#gone();
    await Promise.all(this.#leaving);
    this.#server.close();
  }

  async #gone(): Promise<void> {
    await Promise.all([...this.#connections].map(({ gone }) => gone));
  }

  /** Announces the host's answer if it is new. */
  async #ask(projectId: string, project: Project): Promise<void> {
    const wanted = await project.ask(() => this.#ports.wanted(projectId));
    if (wanted === undefined || (project.known && isSame(project.wanted, wanted))) return;
    this.announce(projectId, wanted);
  }

  #matching(fits: (plane: DataPlane) => boolean, admitted = true): Connection[] {
    return [...this.#connections].filter(({ plane }) => (plane === null ? !admitted : admitted && fits(plane)));
  }

  /** Makes room, if silent connections can be closed. */
  #hasRoom(): boolean {
    const { maxConnections, maxSilent } = this.#options;
    const isFull = this.#connections.size >= maxConnections + maxSilent;
    const yielding = this.#newcomers.makeRoom(isFull);
    if (yielding) this.#connections.delete(yielding);
    return !isFull || yielding !== undefined;
  }

  #open(socket: WebSocket, address: string | null): void {
    const connection = new Connection(socket, address, this.#options, {
      message: (from, text) => this.#heard(from, text),
      closing: (from) => {
        if (!from.plane) this.#newcomers.refused(from);
      },
      ended: (from) => this.#ended(from),
    });
    this.#connections.add(connection);
    this.#newcomers.add(connection);
  }

  #heard(connection: Connection, text: string): void {
    try {
      const message = readToControl(text);
      if (message === null) return;
      if (message.type === 'hello') return this.#greet(connection, message);
      if (!connection.greeted) return connection.refuse('malformed', 'The first message must be "hello".');
      if (!connection.welcomed) return connection.early.keep(message);
      this.#told(connection, message);
    } catch (error) {
      connection.refuse('malformed', error instanceof Error ? error.message : 'The message cannot be read.');
    }
  }

  #told(connection: Connection, message: Status | Heartbeat): void {
    if (message.type === 'status') this.#reported(connection, message);
    else this.#beat(connection, message);
  }

  #greet(connection: Connection, hello: Hello): void {
    if (connection.greeted) return connection.refuse('malformed', 'Only one "hello" is allowed.');
    connection.greeted = true;
    this.#newcomers.greeted(connection, hello);
  }

  async #letIn(connection: Connection, hello: Hello): Promise<void> {
    try {
      await this.#admit(connection, hello);
    } catch (error) {
      this.#ports.failed(error);
      connection.refuse('unavailable', UNAVAILABLE);
    }
  }

  async #admit(connection: Connection, hello: Hello): Promise<void> {
    const admission = await this.#ports.authenticate(hello, { address: connection.address });
    if (connection.ended) return;
    if ('refused' in admission) return connection.refuse(admission.refused, admission.detail);
    const { dataPlaneId, projectId, keyId } = admission;
    if (connection.barred.has(keyId)) return connection.refuse('revoked', 'The API key was revoked.');
    if (connection.barred.has(projectId)) return connection.refuse('unknown-project', 'The project was deleted.');
    const other = this.#planes.get(dataPlaneId);
    if (!other && !this.#hasShare(projectId)) return connection.refuse('too-many', FULL);
    this.#newcomers.admitted(hello);
    const plane = connection.admit(hello, admission);
    other?.refuse('replaced', REPLACED);
    this.#planes.set(dataPlaneId, connection);
    const project = this.#projects.get(projectId) ?? new Project();
    this.#projects.set(projectId, project);
    project.connections.add(connection);
    await this.#ask(projectId, project);
    await connection.inTurn(() => this.#ports.connected(plane));
    if (connection.ended) return;
    this.#connectedTotal++;
    connection.welcomed = true;
    connection.say({
      type: 'welcome',
      data_plane_id: dataPlaneId,
      heartbeat_seconds: this.#options.heartbeatMs / 1000,
      artifact: project.wanted !== null && reads(plane, project.wanted) ? noticeOf(project.wanted) : null,
    });
    this.#drift.compare(connection, project);
    for (const message of connection.early.take()) this.#told(connection, message);
  }

  /**
   * Reports whether one more data plane of the project may be let in. If all places are taken, and another project has
   * more, the latest of the project with most makes room: no project keeps the others out.
   */
  #hasShare(projectId: string): boolean {
    if (this.#planes.size < this.#options.maxConnections) return true;
    let largest: Project | undefined;
    for (const project of this.#projects.values()) {
      if (project.connections.size > (largest?.connections.size ?? 0)) largest = project;
    }
    const own = this.#projects.get(projectId)?.connections.size ?? 0;
    if (!largest || largest.connections.size <= own + 1) return false;
    const latest = [...largest.connections].at(-1);
    latest?.dismiss('too-many', FULL);
    return latest !== undefined;
  }

  #reported(connection: Connection, status: Status): void {
    if (status.outcome === 'applied') this.#appliedTotal++;
    else this.#refusedTotal++;
    this.#serves(connection, status.artifact_hash);
    void connection.tell((plane) => this.#ports.reported(plane, status), this.#ports);
  }

  #beat(connection: Connection, { artifact_hash }: Heartbeat): void {
    connection.say({ type: 'heartbeat' });
    this.#serves(connection, artifact_hash);
    // A busy host skips this heartbeat and gets the next one.
    if (connection.waiting === 0) void connection.tell((plane) => this.#ports.seen(plane), this.#ports);
  }

  #serves(connection: Connection, artifactHash: string | null): void {
    const { plane } = connection;
    if (plane === null) return;
    plane.artifactHash = artifactHash;
    const project = this.#projects.get(plane.projectId);
    if (project) this.#drift.compare(connection, project);
  }

  #sweep(): void {
    const now = performance.now();
    const { heartbeatMs, helloMs } = this.#options;
    for (const connection of this.#connections) {
      const { plane, closingSince } = connection;
      if (closingSince !== null) {
        if (now - closingSince > CLOSE_MS) connection.cut(connection.reason);
      } else if (!connection.greeted) {
        if (now - connection.openedAt > helloMs) connection.refuse('timeout', 'No "hello" came.');
      } else if (!connection.welcomed) {
        if (now - connection.openedAt > HOST_TIMES * helloMs) connection.refuse('unavailable', UNAVAILABLE);
      } else if (now - connection.heardAt > MISSED * heartbeatMs) {
        // Nobody is left to answer a close.
        connection.cut('timeout');
      }
      const project = plane && this.#projects.get(plane.projectId);
      if (project) void this.#drift.look(connection, project);
    }
  }

  #ended(connection: Connection): void {
    this.#connections.delete(connection);
    this.#newcomers.gone(connection);
    const { reason, plane } = connection;
    this.#closed.set(reason, (this.#closed.get(reason) ?? 0) + 1);
    if (plane === null) return;
    if (this.#planes.get(plane.dataPlaneId) === connection) this.#planes.delete(plane.dataPlaneId);
    const project = this.#projects.get(plane.projectId);
    project?.connections.delete(connection);
    if (project?.connections.size === 0) this.#projects.delete(plane.projectId);
    const leaving = connection.tell((gone) => this.#ports.disconnected(gone, reason), this.#ports);
    this.#leaving.add(leaving);
    void leaving.then(() => this.#leaving.delete(leaving));
  }
}
