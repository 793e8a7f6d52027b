/**
 * Reads messages of HTTP/1.1 with llhttp, strict as it comes: the WebAssembly build that undici carries. llhttp sees
 * heads and chunks; bodies of known length, and those that end with the connection, pass by it. Node.js limits what
 * llhttp does not: bytes of a head, and of what stands around chunks (docs/decisions.md#own-http1).
 */
import { framingOf, trim } from './framing.ts';
import {
  DATA,
  errorName,
  errorReason,
  execute,
  INPUT_BYTES,
  type LlhttpEvents,
  llhttp,
  methodOf,
  OK,
  PAUSED,
  PAUSED_UPGRADE,
  setInput,
  spans,
  stoppedAt,
  TARGET,
} from './llhttp.ts';
import { ParseError } from './parse-error.ts';

/** The first part of a message. */
export interface MessageHead {
  /** Of a request; empty for a response. */
  readonly method: string;
  /** Of a request, as it came; empty for a response. */
  readonly target: string;
  /** Of a response; 0 for a request. */
  readonly status: number;
  readonly major: number;
  readonly minor: number;
  /** Names and values in turn, as they came; values without white space around them. */
  readonly headers: string[];
  /** Another message may follow on the connection, as far as llhttp goes: `goesOn` decides. */
  readonly keepAlive: boolean;
  /** Asks for another protocol, or switches to it. */
  readonly upgrade: boolean;
  /** Bytes of the body; -1 if they come in chunks, or until the connection ends. */
  readonly length: number;
  /** The body ends with the connection. */
  readonly endsByClosing: boolean;
}

/** Receives the parts of messages in their order, after the bytes of a call have been parsed. May use other parsers. */
export interface MessageReceiver {
  head(head: MessageHead): void;
  /** Shares its memory with the bytes that were passed to `read`. */
  data(chunk: Buffer): void;
  /** The message is whole. `trailers`: names and values in turn. */
  end(trailers: readonly string[]): void;
}

const TYPES = { request: 1, response: 2 };
/** Has llhttp go on to the next message: the body is not its concern. */
const NO_BODY = 1;
/** The only value of Transfer-Encoding that is read. llhttp does not take a tab for white space there. */
const CHUNKED = /^chunked *$/i;
/** Has llhttp stop with an error of ours. */
const REFUSED = -1;
const CR = 13;
/** Keeps no memory of a connection while it waits. */
const NO_BYTES = Buffer.alloc(0);

/**
 * Bytes between two pieces of data in chunks, such as extensions: as Node.js has it, which is llhttp's user like us
 * (CVE-2024-22019).
 */
const MOST_BETWEEN_DATA = 16 << 10;
/** A longer head is not kept whole for one of its headers. */
const SHARED_HEAD = 1024;

function doubleCr(): ParseError {
  return new ParseError('malformed', 'HPE_STRICT', 'LF expected behind the status line');
}

function chunkOverflow(): ParseError {
  return new ParseError('malformed', 'HPE_CHUNK_EXTENSIONS_OVERFLOW', 'too much stands between pieces of data');
}

export class MessageParser implements LlhttpEvents {
  /** The next response has no body, whatever its head says: it answers HEAD. */
  answersHead = false;
  #parser: number;
  readonly #isResponse: boolean;
  readonly #receiver: MessageReceiver;
  readonly #mostHeadBytes: number;
  #target = '';
  #headers: string[] = [];
  #trailers: string[] = [];
  #lastKind = DATA;
  /** Set once the head of the message is parsed. */
  #head: MessageHead | null = null;
  #headIsNew = false;
  /** A message has begun, and is not whole. */
  #begun = false;
  #ended = false;
  /** llhttp has stopped behind a message, or behind its head if its body passes by. */
  #stopped = false;
  /** Bytes of the body that pass by llhttp: Infinity up to the end of the connection. */
  #left = 0;
  /** Bytes of the head, of the part behind the chunks, or since the last data of a chunk. */
  #overhead = 0;
  /** Bytes of the head up to the end of its target. */
  #targetEnd = 0;
  /** The last byte of the head so far is CR. */
  #endsWithCr = false;
  /** Why a head is refused that llhttp takes. */
  #refusal: ParseError | null = null;
  /** The bytes under way. */
  #bytes: Buffer = NO_BYTES;

  /** `mostHeadBytes`: a longer head, or part behind the chunks, is refused. */
  constructor(kind: keyof typeof TYPES, receiver: MessageReceiver, mostHeadBytes: number) {
    this.#parser = llhttp.llhttp_alloc(TYPES[kind]);
    this.#isResponse = kind === 'response';
    this.#receiver = receiver;
    this.#mostHeadBytes = mostHeadBytes;
  }

  /** A message has begun, and its head is not whole. */
  get inHead(): boolean {
    return this.#begun && this.#head === null;
  }

  /** Bytes that belong to the body of the message, whatever they are. */
  get knownLeft(): number {
    return this.#left;
  }

  /** A message has begun, and is not whole. */
  get inMessage(): boolean {
    return this.#begun;
  }

  /**
   * Reads up to the end of a message; returns how many bytes that were. The next call begins the next message, before
   * which empty lines may stand. Throws ParseError, after which no more can be read; parts before the fault were
   * received. Once the parser is freed, bytes are dropped.
   */
  read(bytes: Buffer): number {
    if (this.#parser === 0) return bytes.length;
    let at = 0;
    do {
      at += this.#left > 0 ? this.#pass(bytes.subarray(at)) : this.#parse(bytes.subarray(at, at + INPUT_BYTES));
    } while (at < bytes.length && this.#begun && this.#parser !== 0);
    return at;
  }

  /** The connection has ended. Throws ParseError if a message is not whole then. */
  finish(): void {
    if (this.#parser === 0) return;
    if (this.#left === Number.POSITIVE_INFINITY) this.#end();
    else if (this.#begun) throw new ParseError('ended-early', 'HPE_INVALID_EOF_STATE', 'the message is not whole');
  }

  /** Releases the memory. Nothing is read any more. May be called by the receiver, and more than once. */
  free(): void {
    if (this.#parser !== 0) llhttp.llhttp_free(this.#parser);
    this.#parser = 0;
  }

  #pass(bytes: Buffer): number {
    const data = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
    this.#left -= data.length;
    this.#receiver.data(data);
    if (this.#left === 0 && this.#parser !== 0) this.#end();
    return data.length;
  }

  #parse(bytes: Buffer): number {
    const parser = this.#parser;
    this.#bytes = bytes;
    setInput(bytes);
    this.#stopped = false;
    let at = 0;
    let headEnd = 0;
    let result = execute(parser, this, 0, bytes.length);
    while (result === PAUSED_UPGRADE || (result === PAUSED && !this.#stopped)) {
      at = stoppedAt(parser);
      if (result === PAUSED) {
        headEnd = at;
        llhttp.llhttp_resume(parser);
      } else {
        // A message asked for another protocol: those who received it have decided about that.
        llhttp.llhttp_resume_after_upgrade(parser);
      }
      result = execute(parser, this, at, bytes.length);
    }
    let read = bytes.length;
    if (result !== OK) read = stoppedAt(parser);
    if (result === PAUSED) llhttp.llhttp_resume(parser);
    const isRefused = result !== OK && result !== PAUSED;
    let failure = this.#overflow(headEnd || read, read) ?? (isRefused ? this.#failureOf(result) : null);
    const data = this.#takeSpans();
    failure ??= this.#trailerFault();
    this.#bytes = NO_BYTES;
    this.#deliver(data);
    if (failure !== null && this.#parser !== 0) throw failure;
    return read;
  }

  /** llhttp takes an empty Transfer-Encoding behind chunks, too, and overlooks what stands before a tab. */
  #trailerFault(): ParseError | null {
    if (!this.#ended || this.#trailers.length === 0) return null;
    const { coding, hasTabInConnection } = framingOf(this.#trailers);
    const hasEmptyCoding = coding?.split(',').some((each) => each.trim() === '') ?? false;
    if (!hasEmptyCoding && !hasTabInConnection) return null;
    this.#ended = false;
    return new ParseError('malformed', 'HPE_INVALID_HEADER_TOKEN', 'a trailer field is invalid');
  }

  #failureOf(result: number): ParseError {
    if (this.#refusal !== null) return this.#refusal;
    return new ParseError('malformed', errorName(result), errorReason(this.#parser));
  }

  /**
   * Counts up to what was read, and drops what came behind a limit. `headEnd`: where the head ends, if it ends in these
   * bytes.
   */
  #overflow(headEnd: number, read: number): ParseError | null {
    if (this.#head === null || this.#headIsNew) {
      if (this.#isResponse && this.#doublesCr(this.#headIsNew ? headEnd : read)) return this.#dropHead(doubleCr());
      const bytes = this.#overhead + (this.#headIsNew ? headEnd : read);
      if (bytes > this.#mostHeadBytes) return this.#dropHead(this.#headOverflow());
      this.#overhead = this.#headIsNew ? 0 : bytes;
      if (!this.#headIsNew) return null;
    } else headEnd = 0;
    const failure = this.#overflowBehindHead(headEnd, read);
    if (failure !== null) this.#ended = false;
    return failure;
  }

  #headOverflow(): ParseError {
    this.#takeSpans();
    const length = (this.#head?.target ?? this.#target).length;
    const inTarget = this.#targetEnd > this.#mostHeadBytes && this.#targetEnd - length <= this.#mostHeadBytes;
    return new ParseError('head-too-large', 'HPE_HEADER_OVERFLOW', 'the head is too large', inTarget);
  }

  #dropHead(failure: ParseError): ParseError {
    spans.length = 0;
    this.#head = null;
    this.#headIsNew = false;
    this.#ended = false;
    return failure;
  }

  /** llhttp takes CR for the LF behind a status line, which nothing else does; elsewhere in a head it refuses that. */
  #doublesCr(end: number): boolean {
    const bytes = this.#bytes.subarray(0, Math.min(end, this.#mostHeadBytes - this.#overhead));
    const isDoubled = (this.#endsWithCr && bytes[0] === CR) || bytes.includes('\r\r', 0, 'latin1');
    this.#endsWithCr = bytes.at(-1) === CR;
    return isDoubled;
  }

  /** Counts between pieces of data, and behind the last of them. */
  #overflowBehindHead(from: number, read: number): ParseError | null {
    let overhead = this.#overhead - from;
    let inTrailers = this.#trailers.length > 0;
    for (let i = 0; i < spans.length; i += 3) {
      const isData = spans[i] === DATA;
      if (inTrailers && !isData) continue;
      const at = spans[i + 1] as number;
      if (overhead + at > MOST_BETWEEN_DATA) {
        spans.length = i;
        return chunkOverflow();
      }
      overhead = isData ? -(spans[i + 2] as number) : -at;
      inTrailers = !isData;
    }
    this.#overhead = overhead + read;
    if (!inTrailers) return this.#overhead > MOST_BETWEEN_DATA ? chunkOverflow() : null;
    if (this.#overhead <= this.#mostHeadBytes) return null;
    return new ParseError('head-too-large', 'HPE_HEADER_OVERFLOW', 'the part behind the chunks is too large');
  }

  #deliver(data: readonly Buffer[]): void {
    const receiver = this.#receiver;
    if (this.#headIsNew && this.#head !== null) {
      this.#headIsNew = false;
      receiver.head(this.#head);
    }
    for (const chunk of data) {
      if (this.#parser === 0) return;
      receiver.data(chunk);
    }
    if (this.#ended && this.#parser !== 0) this.#end();
  }

  #end(): void {
    const trailers = this.#trailers;
    this.#ended = false;
    this.#begun = false;
    this.#left = 0;
    this.#overhead = 0;
    this.#head = null;
    this.#trailers = [];
    this.#lastKind = DATA;
    trim(trailers);
    this.#receiver.end(trailers);
  }

  /** All headers have come. */
  headComes(status: number, upgrade: boolean, keepAlive: boolean): number {
    this.#takeSpans();
    const headers = this.#headers;
    const target = this.#target;
    this.#headers = [];
    this.#target = '';
    this.#lastKind = DATA;
    const { length, coding, hasTabInConnection } = framingOf(headers);
    trim(headers);
    if (hasTabInConnection) return this.#refuse('HPE_INVALID_HEADER_TOKEN', 'a tab stands in Connection');
    const isChunked = coding !== undefined;
    // Such a code has no meaning (RFC 9110, section 15); llhttp takes it.
    if (this.#isResponse && status < 100) return this.#refuse('HPE_INVALID_STATUS', 'the status is below 100');
    // llhttp takes an empty coding for none, and reads up to the end of the connection where a response has another.
    if (isChunked && !CHUNKED.test(coding))
      return this.#refuse('HPE_INVALID_TRANSFER_ENCODING', 'the transfer coding is not chunked');
    const method = this.#isResponse ? '' : methodOf(this.#parser);
    const bodiless = this.#isResponse
      ? this.answersHead || status < 200 || status === 204 || status === 304
      : method === 'CONNECT';
    const endsByClosing = this.#isResponse && !bodiless && !isChunked && length === undefined;
    this.#left = endsByClosing ? Number.POSITIVE_INFINITY : bodiless || isChunked ? 0 : (length ?? 0);
    this.#headIsNew = true;
    this.#head = {
      method,
      target,
      status,
      major: llhttp.llhttp_get_http_major(this.#parser),
      minor: llhttp.llhttp_get_http_minor(this.#parser),
      headers,
      keepAlive: keepAlive && !endsByClosing,
      upgrade,
      length: (isChunked && !bodiless) || endsByClosing ? -1 : this.#left,
      endsByClosing,
    };
    return isChunked && !bodiless ? PAUSED : NO_BODY;
  }

  #refuse(code: string, reason: string): number {
    this.#refusal = new ParseError('malformed', code, reason);
    return REFUSED;
  }

  /** The first byte of a message has come. */
  messageBegins(): void {
    this.#begun = true;
  }

  /** llhttp has come to the end of a message, or of its head. */
  messageEnds(): void {
    this.#stopped = true;
    this.#ended = this.#left === 0;
  }

  /** Moves spans into the message; returns those of its body. */
  #takeSpans(): Buffer[] {
    const data: Buffer[] = [];
    if (spans.length === 0) return data;
    const bytes = this.#bytes;
    const first = spans[1] as number;
    const length = (spans.at(-1) as number) - first;
    const isShared = length <= SHARED_HEAD && spans[0] !== DATA;
    const text = isShared ? bytes.toString('latin1', first, first + length) : '';
    for (let i = 0; i < spans.length; i += 3) {
      const kind = spans[i] as number;
      const at = spans[i + 1] as number;
      const end = spans[i + 2] as number;
      if (kind === TARGET) this.#targetEnd = this.#overhead + end;
      if (kind === DATA) data.push(bytes.subarray(at, end));
      else this.#add(kind, isShared ? text.slice(at - first, end - first) : bytes.toString('latin1', at, end));
    }
    spans.length = 0;
    return data;
  }

  /** A name or value that came in parts comes as several spans of one kind. */
  #add(kind: number, text: string): void {
    const fields = this.#head === null ? this.#headers : this.#trailers;
    if (kind === TARGET) this.#target += text;
    else if (kind === this.#lastKind) fields[fields.length - 1] += text;
    else fields.push(text);
    this.#lastKind = kind;
  }
}
