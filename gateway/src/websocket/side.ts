/** One end of a relayed WebSocket: the client's or the upstream's connection. */
import type { Duplex } from 'node:stream';
import type { CloseStatus } from '../close-status.ts';
import { closeFrame } from './close-frame.ts';
import { type FrameRules, FrameScanner, type Passed } from './frame-scanner.ts';
import type { MessageGate } from './message-gate.ts';

/** Milliseconds that a peer gets to close its connection behind the closing handshake. */
const LINGER_MS = 1000;

export type SideName = 'client' | 'upstream';

export class Side {
  readonly name: SideName;
  readonly stream: Duplex;
  /** Scans its frames. */
  readonly scanner: FrameScanner;
  /** Checks its messages; null if they pass unchecked. */
  readonly #gate: MessageGate | null;
  /** Bytes that it has sent. */
  received = 0;
  /** It has ended its connection, or lost it. */
  gone = false;
  /** The close frame for it, if the gateway ends the WebSocket. */
  #closing: CloseStatus | null = null;
  /** The close frame is sent only when the other side has nothing more to send. */
  #hearsOut = false;
  /** A close frame has been sent to it: the gateway's, or the other side's. */
  #told = false;
  #ended = false;
  #linger: NodeJS.Timeout | null = null;

  constructor(name: SideName, stream: Duplex, rules: FrameRules, gate: MessageGate | null) {
    this.name = name;
    this.stream = stream;
    this.scanner = new FrameScanner(rules);
    this.#gate = gate;
  }

  /** Reports whether its closing handshake is over, or cannot be. */
  get done(): boolean {
    const { closeCode, violation } = this.scanner;
    return this.gone || (this.#told && (closeCode !== null || violation !== null));
  }

  /** Returns why a message of its own may not pass; null while all may. */
  get refusal(): CloseStatus | null {
    return this.#gate?.violation ?? null;
  }

  /** A message of its own is being checked; resolves with the bytes that go on to the other side then. */
  get checking(): Promise<readonly Buffer[]> | null {
    return this.#gate?.checking ?? null;
  }

  /** Each of its messages is held and checked. */
  get isChecked(): boolean {
    return this.#gate !== null;
  }

  /** Returns the bytes that go on to the other side, from valid frames. */
  pass({ lead, body }: Passed): readonly Buffer[] {
    const gate = this.#gate;
    if (gate === null) return lead === null ? [body] : [lead, body];
    return lead === null ? gate.pass(body) : [...gate.pass(lead), ...gate.pass(body)];
  }

  /** The other side has its close frame. */
  get #closePassed(): boolean {
    return this.#gate?.closePassed ?? this.scanner.closePassed;
  }

  /** The bytes written to it end with a whole frame, as they always do if messages are held. */
  get #atFrameEnd(): boolean {
    return this.#gate !== null || this.scanner.atFrameEnd;
  }

  /** It sends no more frames that matter. */
  get #silent(): boolean {
    return this.gone || this.scanner.closeCode !== null || this.scanner.violation !== null;
  }

  /** Sends it a close frame, once the bytes from `other` have reached the end of a frame. */
  dismiss(closing: CloseStatus, other: Side): void {
    if (this.#told || this.gone) return;
    this.#closing ??= closing;
    this.#hearsOut = false;
    other.scanner.stop();
    this.tell(other);
  }

  /** The same, when it has got all that `other` says until its close frame, or until `dismiss` is called. */
  hearOut(closing: CloseStatus, other: Side): void {
    if (this.#closing !== null || this.#told || this.gone) return;
    this.#closing = closing;
    this.#hearsOut = true;
    other.scanner.withholdClose();
    this.tell(other);
  }

  /** Sends its close frame, if one is due and possible now. */
  tell(other: Side): void {
    if (this.#told || this.gone) return;
    if (other.#closePassed) this.#told = true;
    else if (this.#closing === null || (this.#hearsOut && !other.#silent)) return;
    else if (other.#atFrameEnd) {
      this.#told = true;
      this.stream.write(closeFrame(this.#closing, this.name === 'upstream'));
      // Half of a frame is all that it would ever get.
    } else if (other.gone) this.stream.destroy();
  }

  /** Returns false if it reads more slowly than the other side sends. */
  write(pieces: readonly Buffer[]): boolean {
    const { stream } = this;
    const [only] = pieces;
    if (only === undefined) return true;
    if (pieces.length === 1) return only.length === 0 || stream.write(only);
    stream.cork();
    for (const piece of pieces) if (piece.length > 0) stream.write(piece);
    stream.uncork();
    return !stream.writableNeedDrain;
  }

  /** Ends the connection after the bytes written so far. */
  end(): void {
    if (this.#ended || this.stream.destroyed) return;
    this.#ended = true;
    this.stream.end(() => {
      if (!this.stream.destroyed) this.#linger = setTimeout(() => this.stream.destroy(), LINGER_MS);
    });
    // Its remaining input is read: unread, it would reset the connection, and discard the bytes just written.
    this.stream.resume();
  }

  /** Its connection has ended. */
  release(): void {
    this.#gate?.release();
    if (this.#linger !== null) clearTimeout(this.#linger);
  }
}
