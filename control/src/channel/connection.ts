/** One WebSocket of the data-plane channel: received messages, sent messages, and its end. */
import { randomUUID } from 'node:crypto';
import { clientNetwork } from '@gw/gateway/client-network';
import {
  CLOSE_CODES,
  type CloseReason,
  GOING_AWAY,
  type Heartbeat,
  type Hello,
  type Status,
  type ToDataPlane,
} from '@gw/gateway/link-protocol';
import type { WebSocket } from 'ws';
import type { Admission, ChannelPorts, DataPlane, DisconnectReason } from './ports.ts';

export interface ConnectionLimits {
  readonly maxWaitingBytes: number;
  readonly maxMessages: number;
}

interface ConnectionEvents {
  /** Called for each whole text message. */
  message(connection: Connection, text: string): void;
  /** Called when we close it, and wait for the other end. */
  closing(connection: Connection): void;
  /** Called once, at its end. */
  ended(connection: Connection): void;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Connection {
  readonly address: string | null;
  /** Whom it counts for: its network. */
  readonly owner: string;
  readonly openedAt: number = performance.now();
  /** Time of its last message. */
  heardAt: number = this.openedAt;
  /** Has sent its hello. */
  greeted = false;
  /** Null until it is let in. */
  plane: Mutable<DataPlane> | null = null;
  /** Whether `welcome` was sent, after which announcements are sent, too. */
  welcomed = false;
  /** Messages received before `welcome`. */
  readonly early = new EarlyMessages();
  /** Time since which it serves another artifact than desired; null if it serves the desired one. */
  differsSince: number | null = null;
  /** Keys and projects that were taken away while it was being let in. */
  readonly barred = new Set<string>();
  /** Time at which our close was sent, while the other end has not answered. */
  closingSince: number | null = null;
  ended = false;
  /** Resolves when it has ended. */
  readonly gone: Promise<void>;
  /** Why it ends, or ended. */
  reason: DisconnectReason = 'closed';
  readonly #socket: WebSocket;
  readonly #limits: ConnectionLimits;
  readonly #events: ConnectionEvents;
  #messages = 0;
  /** The host's calls about it, one after the other. */
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(socket: WebSocket, address: string | null, limits: ConnectionLimits, events: ConnectionEvents) {
    this.#socket = socket;
    this.address = address;
    this.owner = clientNetwork(address ?? '');
    this.#limits = limits;
    this.#events = events;
    socket.on('message', (data, isBinary) => {
      if (!this.#heard()) return;
      if (isBinary) this.refuse('malformed', 'Messages must be text.');
      else events.message(this, data.toString());
    });
    socket.on('ping', () => void this.#heard());
    socket.on('pong', () => void this.#heard());
    // An oversized or invalid message: the library has sent its close code, and nothing more is read.
    socket.on('error', () => {
      socket.pause();
      this.#closes('malformed');
    });
    this.gone = new Promise((resolve) => {
      socket.once('close', () => {
        this.ended = true;
        events.ended(this);
        resolve();
      });
    });
  }

  admit(hello: Hello, { dataPlaneId, projectId, keyId }: Admission): Mutable<DataPlane> {
    this.plane = {
      connectionId: randomUUID(),
      dataPlaneId,
      projectId,
      keyId,
      name: hello.name,
      instanceId: hello.instance_id,
      version: hello.gw_version,
      artifactVersions: hello.artifact_versions,
      labels: hello.labels,
      address: this.address,
      connectedAt: new Date(),
      artifactHash: hello.artifact_hash,
      drifted: false,
    };
    return this.plane;
  }

  /** Returns the number of the host's calls that have not ended. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Runs after earlier calls. Rejects with the error of `call`; later calls run all the same. */
  inTurn(call: () => unknown): Promise<void> {
    this.#waiting++;
    const turn = this.#turn.then(async () => {
      try {
        await call();
      } finally {
        this.#waiting--;
      }
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Runs one of the host's calls about it, in turn. Resolves when it has ended in any way. */
  tell(call: (plane: DataPlane) => unknown, ports: Pick<ChannelPorts, 'failed'>): Promise<void> {
    const { plane } = this;
    if (plane === null) return Promise.resolve();
    return this.inTurn(() => call(plane)).catch((error: unknown) => ports.failed(error));
  }

  say(message: ToDataPlane): void {
    this.send(JSON.stringify(message));
  }

  /** As `say`, for text. Cuts off a data plane that does not read. */
  send(text: string): void {
    if (this.#ending) return;
    if (this.#socket.bufferedAmount + text.length > this.#limits.maxWaitingBytes) return this.cut('too-slow');
    this.#socket.send(text, () => {});
  }

  /** Sends the reason, and closes. */
  refuse(reason: CloseReason, detail: string): void {
    if (this.#ending) return;
    this.say({ type: 'refused', reason, detail });
    this.#close(CLOSE_CODES[reason].code, reason);
  }

  /** As `refuse`, without waiting for the other end. */
  dismiss(reason: CloseReason, detail: string): void {
    this.refuse(reason, detail);
    this.cut(reason);
  }

  goodbye(afterMs: number): void {
    if (this.#ending) return;
    this.say({ type: 'goodbye', after_ms: afterMs });
    this.#close(GOING_AWAY, 'drained');
  }

  /** Ends it without waiting for the other end. */
  cut(reason: DisconnectReason): void {
    if (this.ended) return;
    if (!this.#ending) this.reason = reason;
    this.#socket.terminate();
  }

  /** Starts a new count of messages. */
  resetMessages(): void {
    this.#messages = 0;
  }

  get #ending(): boolean {
    return this.#socket.readyState !== this.#socket.OPEN;
  }

  #close(code: number, reason: DisconnectReason): void {
    if (this.#ending) return;
    this.#closes(reason);
    this.#socket.close(code, reason);
  }

  #closes(reason: DisconnectReason): void {
    if (this.ended || this.closingSince !== null) return;
    this.reason = reason;
    this.closingSince = performance.now();
    this.#events.closing(this);
  }

  /** Counts a message; returns false once the connection no longer counts. */
  #heard(): boolean {
    if (this.#ending) return false;
    this.heardAt = performance.now();
    if (++this.#messages <= this.#limits.maxMessages) return true;
    this.refuse('too-many', 'This data plane sends too many messages.');
    // Further messages are not read.
    this.#socket.pause();
    return false;
  }
}

/** Messages that a data plane sends after its hello without waiting for `welcome`: handled once it is welcomed. */
class EarlyMessages {
  #status: Status | null = null;
  /** Each heartbeat is answered; the last one counts. */
  #beats = 0;
  #beat: Heartbeat | null = null;

  /** Keeps at most one message of each type, in constant memory: the last status of a notice counts. */
  keep(message: Status | Heartbeat): void {
    if (message.type === 'status') {
      this.#status = message;
      return;
    }
    this.#beats++;
    this.#beat = message;
  }

  /** Returns the messages in order, once. */
  take(): readonly (Status | Heartbeat)[] {
    const beat = this.#beat;
    const beats = beat === null ? [] : Array.from({ length: this.#beats }, () => beat);
    const all = this.#status === null ? beats : [this.#status, ...beats];
    this.#status = null;
    this.#beats = 0;
    this.#beat = null;
    return all;
  }
}
