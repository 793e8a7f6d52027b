/**
 * Carries a WebSocket between a client and an upstream (docs/reference/plugins.md#ws-upstream): bytes pass as they
 * come, with back-pressure, and frames are followed so that each side gets a close frame of its own with the reason of
 * the end.
 */

import type { Duplex } from 'node:stream';
import type { CloseStatus } from '../close-status.ts';
import { readInTurns, SLICE } from '../scheduling/read-in-turns.ts';
import type { DirectionFigures, WebSocketFigures } from '../web-socket-figures.ts';
import type { MessageGate } from './message-gate.ts';
import { Side, type SideName } from './side.ts';

/** Milliseconds from the first close frame, or the loss of a side, to the end of both connections (RFC 6455, section 7.1.2). */
const CLOSING_MS = 10_000;
/** Milliseconds for the same if the gateway ends the WebSocket, or the client is lost. */
const GRACE_MS = 2_000;
/** Milliseconds for an upstream's last messages, if its client is to be refused. */
const HEAR_OUT_MS = 1_000;
/** Never sent: the connection was lost (RFC 6455, section 7.1.5). */
const LOST = 1006;

const CLIENT_GONE: CloseStatus = { code: 1001, reason: 'the client has gone' };
const UPSTREAM_GONE: CloseStatus = { code: 1011, reason: 'the upstream has gone' };
/** Close frames for the other side when one violates the protocol. */
const BROKEN: Readonly<Record<SideName, CloseStatus>> = {
  client: { code: 1001, reason: 'the client broke the protocol' },
  upstream: { code: 1011, reason: 'the upstream broke the protocol' },
};
/** The same of a message that may not pass. */
const REFUSED: Readonly<Record<SideName, CloseStatus>> = {
  client: { code: 1001, reason: 'a message of the client was refused' },
  upstream: { code: 1011, reason: 'a message of the upstream was refused' },
};
const IDLE: CloseStatus = { code: 1001, reason: 'idle timeout' };
export const STOPPING: CloseStatus = { code: 1001, reason: 'the gateway is stopping' };

export interface RelayOptions {
  readonly client: Duplex;
  readonly upstream: Duplex;
  /** Both sides have agreed on compression. */
  readonly deflate: boolean;
  readonly maxMessageBytes: number;
  /** The same of those that are held until they are whole. */
  readonly maxHeldMessageBytes: number;
  /** Gates for each side's messages; null if they pass unchecked. */
  readonly gates: { readonly client: MessageGate | null; readonly upstream: MessageGate | null };
  /** Milliseconds without a byte from either side; 0: no limit. */
  readonly idleTimeoutMs: number;
  readonly figures: WebSocketFigures;
  /** Receives the passed frames of the upstream, whose heads are never cut. Default: they are not read. */
  readonly read?: ((frames: readonly Buffer[]) => void) | undefined;
  /** Both connections have ended. */
  ended(end: RelayEnd): void;
}

export interface RelayEnd {
  /** The side that ended it first. */
  readonly by: SideName | 'gateway';
  readonly code: number;
  readonly reason: string;
  /** Bytes from the client, and to it. */
  readonly received: number;
  readonly sent: number;
}

export class Relay {
  readonly #options: RelayOptions;
  readonly #client: Side;
  readonly #upstream: Side;
  /** The side that ended it first, with code and reason; null while it goes on. */
  #end: Pick<RelayEnd, 'by' | 'code' | 'reason'> | null = null;
  #activeAt = performance.now();
  #idle: NodeJS.Timeout | null = null;
  #deadline: NodeJS.Timeout | null = null;
  #heardOut: NodeJS.Timeout | null = null;
  #open = 2;

  constructor(options: RelayOptions) {
    const { client, upstream, figures, gates } = options;
    const { deflate, maxMessageBytes, maxHeldMessageBytes } = options;
    const rulesFor = (gate: MessageGate | null) => {
      const held = gate !== null;
      return {
        deflate,
        held,
        maxMessageBytes: held ? Math.min(maxMessageBytes, maxHeldMessageBytes) : maxMessageBytes,
      };
    };
    this.#options = options;
    this.#client = new Side('client', client, { ...rulesFor(gates.client), masked: true }, gates.client);
    this.#upstream = new Side('upstream', upstream, { ...rulesFor(gates.upstream), masked: false }, gates.upstream);
    figures.open++;
    this.#watchIdle(options.idleTimeoutMs);
    this.#join(this.#client, this.#upstream, figures.received);
    this.#join(this.#upstream, this.#client, figures.sent);
  }

  /** The gateway ends the WebSocket: both sides get close frames, and a moment to answer. */
  close(closing: CloseStatus): void {
    this.#note('gateway', closing);
    this.#client.dismiss(closing, this.#upstream);
    this.#upstream.dismiss(closing, this.#client);
    this.#settle(GRACE_MS);
  }

  #join(from: Side, to: Side, figures: DirectionFigures): void {
    const { stream } = from;
    const left = () => this.#left(from, to);
    readInTurns(stream, {
      // Unchecked bytes are not sliced: they go on in one write.
      ...(from.isChecked ? { sliceBytes: SLICE } : {}),
      read: (slice) => this.#pass(from, to, figures, slice),
      readOn: () => this.#readOn(from, to),
    });
    stream.on('drain', () => {
      this.#activeAt = performance.now();
      if (to.checking === null) to.stream.resume();
    });
    const closed = () => {
      left();
      this.#closed(from);
    };
    stream.on('end', left).on('error', ignore);
    if (stream.closed) process.nextTick(closed);
    else stream.on('close', closed).resume();
  }

  #readOn(from: Side, to: Side): void {
    if (from.checking === null && (to.gone || !to.stream.writableNeedDrain)) from.stream.resume();
  }

  #pass(from: Side, to: Side, figures: DirectionFigures, chunk: Buffer): void {
    this.#activeAt = performance.now();
    from.received += chunk.length;
    const { scanner } = from;
    const before = scanner.messages;
    const passed = from.pass(scanner.scan(chunk));
    figures.bytes += chunk.length;
    figures.messages += scanner.messages - before;
    this.#passOn(from, to, passed);
  }

  #passOn(from: Side, to: Side, passed: readonly Buffer[]): void {
    const { scanner, checking } = from;
    const isFull = !to.gone && !to.write(passed);
    if (isFull || checking !== null) from.stream.pause();
    if (checking !== null) void checking.then((more) => this.#checked(from, to, more));
    if (from === this.#upstream) this.#options.read?.(passed);
    if (from.refusal !== null) return this.#refuse(from, from.refusal, REFUSED);
    if (scanner.violation !== null) return this.#refuse(from, scanner.violation, BROKEN);
    to.tell(from);
    if (scanner.closeCode === null) return;
    this.#note(from.name, { code: scanner.closeCode, reason: '' });
    this.#settle(CLOSING_MS);
  }

  /** A message has been checked: reading goes on. */
  #checked(from: Side, to: Side, passed: readonly Buffer[]): void {
    this.#activeAt = performance.now();
    this.#passOn(from, to, passed);
    this.#readOn(from, to);
  }

  /** `others`: close frames for the other side, by the refused side. */
  #refuse(from: Side, closing: CloseStatus, others: Readonly<Record<SideName, CloseStatus>>): void {
    if (from === this.#client) this.#refuseClient(closing, others.client);
    else this.#refuseUpstream(closing, others.upstream);
  }

  /** The upstream's answer to earlier messages still passes: it may be on its way. */
  #refuseClient(closing: CloseStatus, toUpstream: CloseStatus): void {
    this.#note('gateway', closing);
    this.#upstream.dismiss(toUpstream, this.#client);
    this.#client.hearOut(closing, this.#upstream);
    this.#heardOut ??= setTimeout(() => {
      this.#client.dismiss(closing, this.#upstream);
      this.#settle(GRACE_MS);
    }, HEAR_OUT_MS);
    this.#settle(GRACE_MS);
  }

  #refuseUpstream(closing: CloseStatus, toClient: CloseStatus): void {
    this.#note('gateway', closing);
    this.#upstream.dismiss(closing, this.#client);
    this.#client.dismiss(toClient, this.#upstream);
    this.#settle(GRACE_MS);
  }

  /** A side has stopped sending: the other is notified, unless they have parted already. */
  #left(from: Side, to: Side): void {
    if (from.gone) return;
    from.gone = true;
    const why = from === this.#client ? CLIENT_GONE : UPSTREAM_GONE;
    if (from.scanner.closeCode === null) {
      this.#note(from.name, { code: LOST, reason: '' });
      to.dismiss(why, from);
    }
    to.tell(from);
    from.end();
    // The other side is gone, so waiting is pointless.
    if (to.checking === null) to.stream.resume();
    // A client may have yet to read the upstream's last messages.
    this.#settle(from === this.#client ? GRACE_MS : CLOSING_MS);
  }

  #note(by: RelayEnd['by'], { code, reason }: CloseStatus): void {
    this.#end ??= { by, code, reason };
  }

  /** Ends the connections with a finished closing handshake; all of it may take this long. */
  #settle(withinMs: number): void {
    const sides = [this.#client, this.#upstream];
    for (const side of sides) if (side.done) side.end();
    if (this.#open === 0) return;
    this.#deadline ??= setTimeout(() => {
      for (const { stream } of sides) stream.destroy();
    }, withinMs);
  }

  #closed(side: Side): void {
    side.release();
    if (--this.#open > 0) return;
    for (const timer of [this.#idle, this.#heardOut, this.#deadline]) if (timer !== null) clearTimeout(timer);
    const { figures, ended } = this.#options;
    figures.open--;
    const end = this.#end ?? { by: 'gateway', code: LOST, reason: '' };
    ended({ ...end, received: this.#client.received, sent: this.#upstream.received });
  }

  #watchIdle(timeoutMs: number): void {
    if (timeoutMs === 0) return;
    const look = () => {
      const leftMs = this.#activeAt + timeoutMs - performance.now();
      if (leftMs <= 0) this.close(IDLE);
      else this.#idle = setTimeout(look, Math.ceil(leftMs));
    };
    this.#idle = setTimeout(look, timeoutMs);
  }
}

function ignore(): void {}
