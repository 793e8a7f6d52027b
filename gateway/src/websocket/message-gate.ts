/**
 * Holds the frames of a message until it is whole and has been checked; then they pass as they came, masks and all (RFC
 * 6455, section 5). Its input has passed a FrameScanner: valid frames, whose heads are never cut. Control frames pass
 * at once, and whole, between those of a message.
 */
import type { CloseStatus } from '../close-status.ts';
import type { Holding } from '../memory/buffer-budget.ts';
import { CLOSE, FIN, headSize, MASK, payloadLength } from './frame-head.ts';

const NO_ROOM: CloseStatus = { code: 1013, reason: 'the gateway has no room for the message: try again later' };

export interface MessageGateOptions {
  /** Returns why the message ends the WebSocket; null if it may pass. A promise if that takes long. */
  check(message: Buffer): CloseStatus | null | Promise<CloseStatus | null>;
  /** Makes room for a message that comes in pieces. `cutOff`: the room is needed for others. */
  hold(cutOff: () => void): Holding;
  /** The message had to be dropped for others. */
  cutOff(closing: CloseStatus): void;
}

export class MessageGate {
  readonly #options: MessageGateOptions;
  /** A message is being checked: resolves with the bytes that may go on then. The caller pauses its input meanwhile. */
  checking: Promise<readonly Buffer[]> | null = null;
  /** Came behind the message that is being checked. */
  #rest: Buffer[] = [];
  #released = false;
  /** Reason for which no more frames pass. */
  violation: CloseStatus | null = null;
  /** A close frame has passed. */
  closePassed = false;
  /** The current message: its frames as they came, and its unmasked payload. */
  #frames: Buffer[] = [];
  #payload: Buffer[] = [];
  #held: Holding | null = null;
  /** Pieces of the current control frame. */
  #control: Buffer[] = [];
  /** Opcode of the current frame. */
  #opcode = 0;
  #final = true;
  #left = 0;
  #mask: Buffer | null = null;
  #maskAt = 0;
  /** Payload of the current bytes, and the part of it that has not been kept yet. */
  #plain: Buffer | null = null;
  #plainFrom = 0;
  #plainEnd = 0;

  constructor(options: MessageGateOptions) {
    this.#options = options;
  }

  /** Returns the bytes that may go on now. */
  pass(bytes: Buffer): readonly Buffer[] {
    const passed: Buffer[] = [];
    this.#plain = null;
    let kept = 0;
    let at = 0;
    /** Start of the current message's frames that have not been kept yet. */
    let run = 0;
    while (at < bytes.length && this.violation === null && this.checking === null) {
      const from = at;
      if (this.#left === 0) at += this.#begin(bytes, at);
      const end = at + Math.min(this.#left, bytes.length - at);
      const isControl = this.#opcode >= CLOSE;
      if (isControl) {
        if (from > run) this.#frames.push(bytes.subarray(run, from));
        this.#control.push(bytes.subarray(from, end));
        run = end;
      } else this.#unmask(bytes, at, end);
      kept += end - from;
      this.#left -= end - at;
      at = end;
      if (this.#left > 0) break;
      if (isControl) this.#controlEnded(passed);
      else if (this.#final) {
        this.#frames.push(bytes.subarray(run, at));
        run = at;
        this.#keepPayload();
        this.#messageEnded(passed);
        if (this.checking === null) kept = 0;
      }
    }
    if (this.checking !== null && at < bytes.length) this.#rest.push(bytes.subarray(at));
    else if (at > run) this.#frames.push(bytes.subarray(run, at));
    this.#keepPayload();
    if (this.#frames.length > 0 && this.violation === null && !this.#take(kept)) this.violation = NO_ROOM;
    return passed;
  }

  release(): void {
    this.#released = true;
    this.#rest = [];
    this.#forget();
  }

  /** Drops the current message. */
  #forget(): void {
    this.#held?.release();
    this.#held = null;
    this.#frames = [];
    this.#payload = [];
  }

  /** A frame begins. Returns the bytes of its head. */
  #begin(bytes: Buffer, at: number): number {
    const size = headSize(bytes, at, bytes.length - at);
    const first = bytes[at] as number;
    this.#left = payloadLength(bytes, at);
    this.#opcode = first & 0x0f;
    this.#final = (first & FIN) !== 0;
    const isMasked = ((bytes[at + 1] as number) & MASK) !== 0;
    this.#mask = isMasked ? Buffer.from(bytes.subarray(at + size - 4, at + size)) : null;
    this.#maskAt = 0;
    return size;
  }

  /** Appends payload to the earlier part of these bytes: otherwise each frame of one byte would be a buffer. */
  #unmask(bytes: Buffer, from: number, end: number): void {
    if (end === from) return;
    if (this.#plain === null) {
      this.#plain = Buffer.allocUnsafe(bytes.length - from);
      this.#plainFrom = 0;
      this.#plainEnd = 0;
    }
    const plain = this.#plain;
    const mask = this.#mask;
    if (mask === null) this.#plainEnd += bytes.copy(plain, this.#plainEnd, from, end);
    else {
      for (let i = from; i < end; i++) {
        plain[this.#plainEnd++] = (bytes[i] as number) ^ (mask[this.#maskAt++ & 3] as number);
      }
    }
  }

  #keepPayload(): void {
    const plain = this.#plain;
    if (plain === null || this.#plainEnd === this.#plainFrom) return;
    this.#payload.push(plain.subarray(this.#plainFrom, this.#plainEnd));
    this.#plainFrom = this.#plainEnd;
  }

  #controlEnded(passed: Buffer[]): void {
    passed.push(...this.#control);
    this.#control = [];
    if (this.#opcode === CLOSE) this.closePassed = true;
  }

  #messageEnded(passed: Buffer[]): void {
    const [only, ...more] = this.#payload;
    const payload = only !== undefined && more.length === 0 ? only : Buffer.concat(this.#payload);
    const verdict = this.#options.check(payload);
    if (verdict instanceof Promise) this.checking = verdict.then((violation) => this.#checked(violation));
    else this.#decide(verdict, passed);
  }

  #decide(violation: CloseStatus | null, passed: Buffer[]): void {
    this.violation = violation;
    if (violation === null) passed.push(...this.#frames);
    this.#forget();
  }

  /** Returns the bytes that may go on now: the message, and those behind it. */
  #checked(violation: CloseStatus | null): readonly Buffer[] {
    const passed: Buffer[] = [];
    this.checking = null;
    // It was dropped for others meanwhile, or its connection was lost.
    if (this.#released || this.violation !== null) return passed;
    this.#decide(violation, passed);
    const rest = this.#rest;
    this.#rest = [];
    for (const bytes of rest) passed.push(...this.pass(bytes));
    return passed;
  }

  /** Takes room for the incomplete message; frames and payload are both kept. */
  #take(bytes: number): boolean {
    this.#held ??= this.#options.hold(() => {
      this.violation = NO_ROOM;
      this.#options.cutOff(NO_ROOM);
    });
    return this.#held.take(2 * bytes);
  }
}
