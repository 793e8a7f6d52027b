/**
 * Tells HTTP/2 with prior knowledge from HTTP/1.1 by a connection's first bytes (RFC 9113, section 3.3). The bytes are
 * read and put back: a `data` listener would start the flow, and a stream around the socket costs half the throughput.
 */
import type { Socket } from 'node:net';

/** The first bytes of every HTTP/2 connection, and of no HTTP/1.1 request: RFC 9113 section 3.4 reserves the method. */
const PREFACE = Buffer.from('PRI');

/** Receives the protocol of a connection. Neither function is called if the connection ends before. */
export interface Detected {
  /** Called once, in the turn in which the first bytes came. */
  decided(isHttp2: boolean): void;
  /** The time is up, and the bytes that came are too few to tell. */
  tooSlow(): void;
}

/** Connections that have not yet sent enough to tell. */
export class ProtocolDetector {
  readonly #timeoutMs: number;
  readonly #sockets = new Set<Socket>();

  /** Closes silent connections after so many milliseconds. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  decide(socket: Socket, detected: Detected): void {
    this.#sockets.add(socket);
    let held: Buffer | null = null;
    const detach = () => {
      this.#sockets.delete(socket);
      socket.off('readable', look).off('end', gone).off('error', gone).off('close', detach);
      socket.setTimeout(0);
      socket.off('timeout', late);
    };
    const gone = () => {
      detach();
      socket.destroy();
    };
    const late = () => {
      if (held === null) return gone();
      detach();
      detected.tooSlow();
    };
    const look = () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      const bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk]);
      const length = Math.min(bytes.length, PREFACE.length);
      const matches = bytes.compare(PREFACE, 0, length, 0, length) === 0;
      if (matches && bytes.length < PREFACE.length) {
        held = bytes;
        return;
      }
      detach();
      socket.unshift(bytes);
      detected.decided(matches);
    };
    socket.on('readable', look).on('end', gone).on('error', gone).on('close', detach);
    socket.setTimeout(this.#timeoutMs);
    socket.on('timeout', late);
  }

  /** Closes all waiting connections: they have no requests in flight. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
