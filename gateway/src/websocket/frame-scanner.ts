/**
 * Follows one direction of a WebSocket from frame to frame (RFC 6455, section 5): which bytes may pass, and the ends of
 * frames. Payloads are neither unmasked nor copied. The head of a frame passes when it is whole and valid, so that the
 * receiver is at the end of a frame whenever one is refused.
 */

import type { CloseStatus } from '../close-status.ts';
import { CLOSE, FIN, headSize, MASK, payloadLength } from './frame-head.ts';

export interface FrameRules {
  /** Frames of clients are masked, those of servers are not (section 5.1). */
  readonly masked: boolean;
  /** `permessage-deflate` was agreed on, which sets RSV1 of messages (RFC 7692, section 6). */
  readonly deflate: boolean;
  /** Bytes of a message as it travels, in all its frames. */
  readonly maxMessageBytes: number;
  /** Messages are held until they are whole: each frame costs, whatever it brings. Default: false. */
  readonly held?: boolean;
}

/** The part of a chunk that goes on: `lead` first, if the chunk completes a head that was held back. */
export interface Passed {
  readonly lead: Buffer | null;
  readonly body: Buffer;
}

const MAX_HEAD = 14;
const MAX_CONTROL = 125;
/** Frames of a held message, and bytes of it that give one more. */
const MOST_FRAMES = 1024;
const BYTES_A_FRAME = 16;
const RSV1 = 0x40;
const RSV2_RSV3 = 0x30;
/** A close frame without a code (section 7.1.5). */
const NO_CODE = 1005;
const NONE = Buffer.alloc(0);

export class FrameScanner {
  readonly #rules: FrameRules;
  /** Messages that have passed whole. */
  messages = 0;
  /** Frames that have begun. */
  frames = 0;
  /** Code of the complete close frame; null before. Later bytes are ignored (section 5.5.1). */
  closeCode: number | null = null;
  /** That close frame has passed. */
  closePassed = false;
  /** Set at the first refused frame; later bytes do not pass. */
  violation: CloseStatus | null = null;
  readonly #head = Buffer.alloc(MAX_HEAD);
  /** Bytes in `#head`, which have not passed. */
  #held = 0;
  /** Bytes of payload left of the current frame. */
  #left = 0;
  #opcode = 0;
  #final = true;
  /** A message has begun, and its last frame is yet to come. */
  #fragmented = false;
  #messageBytes = 0;
  #messageFrames = 0;
  /** Received bytes of the current close frame's code. */
  #codeBytes = 0;
  #code = 0;
  readonly #mask = Buffer.alloc(4);
  #stopping = false;
  #withholdingClose = false;
  #passing = true;

  constructor(rules: FrameRules) {
    this.#rules = rules;
  }

  /** The bytes passed so far end with a whole frame, so that a frame of another source may follow. */
  get atFrameEnd(): boolean {
    return this.#left === 0 || !this.#passing;
  }

  /** Stops frames that have not begun yet; later bytes are still scanned for a close frame. */
  stop(): void {
    this.#stopping = true;
    if (this.#left === 0) this.#passing = false;
  }

  /** A close frame that is to come does not pass. */
  withholdClose(): void {
    this.#withholdingClose = true;
  }

  scan(chunk: Buffer): Passed {
    let at = 0;
    let lead: Buffer | null = null;
    if (this.#held > 0) {
      at = this.#completeHead(chunk);
      if (this.#held < headSize(this.#head, 0, this.#held)) return { lead, body: NONE };
      if (!this.#begin(this.#head, 0)) return { lead, body: NONE };
      if (this.#passing) lead = Buffer.from(this.#head.subarray(0, this.#held));
      this.#held = 0;
    }
    const from = at;
    let end = at;
    while (!this.#over && at < chunk.length) {
      if (this.#left > 0) at += this.#take(chunk, at);
      else {
        if (this.#stopping) this.#passing = false;
        const size = headSize(chunk, at, chunk.length - at);
        if (at + size > chunk.length) {
          this.#held = chunk.copy(this.#head, 0, at);
          break;
        }
        if (!this.#begin(chunk, at)) break;
        at += size;
      }
      if (this.#passing) end = at;
    }
    return { lead, body: chunk.subarray(from, end) };
  }

  get #over(): boolean {
    return this.closeCode !== null || this.violation !== null;
  }

  /** Takes bytes of the held head, until it is whole; returns the position at which the chunk goes on. */
  #completeHead(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.#held < headSize(this.#head, 0, this.#held)) {
      this.#head[this.#held++] = chunk[at++] as number;
    }
    return at;
  }

  /** Begins a frame whose head is whole; returns false if it is refused. */
  #begin(bytes: Buffer, at: number): boolean {
    const first = bytes[at] as number;
    const second = bytes[at + 1] as number;
    const length = payloadLength(bytes, at);
    this.violation = this.#faultOf(first, second, length);
    if (this.violation !== null) return false;
    this.frames++;
    this.#opcode = first & 0x0f;
    this.#final = (first & FIN) !== 0;
    this.#left = length;
    if (this.#opcode === CLOSE) this.#beginClose(bytes, at, second, length);
    else if (this.#opcode < CLOSE) {
      this.#messageBytes = (this.#opcode === 0 ? this.#messageBytes : 0) + length;
      this.#messageFrames = this.#opcode === 0 ? this.#messageFrames + 1 : 1;
      this.#fragmented = !this.#final;
    }
    if (length === 0) this.#ended();
    return true;
  }

  #beginClose(bytes: Buffer, at: number, second: number, length: number): void {
    if (this.#withholdingClose) this.#passing = false;
    if ((second & MASK) !== 0) bytes.copy(this.#mask, 0, at + 2, at + 6);
    this.#codeBytes = length === 0 ? 2 : 0;
    this.#code = length === 0 ? NO_CODE : 0;
  }

  #faultOf(first: number, second: number, length: number): CloseStatus | null {
    const opcode = first & 0x0f;
    if (((second & MASK) !== 0) !== this.#rules.masked) {
      return protocolError(this.#rules.masked ? 'a frame is not masked' : 'a frame is masked');
    }
    if ((first & RSV2_RSV3) !== 0) return protocolError('a reserved bit is set');
    if ((opcode > 2 && opcode < CLOSE) || opcode > 0xa) return protocolError('an opcode is reserved');
    const compressed = (first & RSV1) !== 0;
    if (compressed && (!this.#rules.deflate || opcode === 0 || opcode >= CLOSE)) {
      return protocolError('a reserved bit is set');
    }
    if (opcode >= CLOSE) return this.#faultOfControl(first, opcode, length);
    if (opcode === 0 && !this.#fragmented) return protocolError('a continuation continues nothing');
    if (opcode !== 0 && this.#fragmented) return protocolError('a message begins within another');
    const before = opcode === 0 ? this.#messageBytes : 0;
    if (before + length > this.#rules.maxMessageBytes) return { code: 1009, reason: 'the message is too large' };
    const mostFrames = MOST_FRAMES + (before + length) / BYTES_A_FRAME;
    if (this.#rules.held && opcode === 0 && this.#messageFrames >= mostFrames) {
      return { code: 1008, reason: 'the message is in too many frames for its length' };
    }
    return null;
  }

  #faultOfControl(first: number, opcode: number, length: number): CloseStatus | null {
    if ((first & FIN) === 0) return protocolError('a control frame is fragmented');
    if (length > MAX_CONTROL) return protocolError('a control frame is too long');
    if (opcode === CLOSE && length === 1) return protocolError('a close frame holds half a code');
    return null;
  }

  /** Payload: how much of it there is from `at` on. */
  #take(chunk: Buffer, at: number): number {
    const taken = Math.min(this.#left, chunk.length - at);
    if (this.#opcode === CLOSE) this.#readCode(chunk, at, taken);
    this.#left -= taken;
    if (this.#left === 0) this.#ended();
    return taken;
  }

  #readCode(chunk: Buffer, at: number, length: number): void {
    for (let i = 0; i < length && this.#codeBytes < 2; i++, this.#codeBytes++) {
      const mask = this.#rules.masked ? (this.#mask[this.#codeBytes] as number) : 0;
      this.#code = (this.#code << 8) | ((chunk[at + i] as number) ^ mask);
    }
  }

  #ended(): void {
    if (this.#opcode === CLOSE) {
      this.closeCode = this.#code;
      this.closePassed = this.#passing;
    } else if (this.#opcode < CLOSE && this.#final) this.messages++;
  }
}

function protocolError(reason: string): CloseStatus {
  return { code: 1002, reason };
}
