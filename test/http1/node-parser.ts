/** The parser of node:http, with which ours is compared: llhttp as Node.js builds it, with the limits of Node.js. */
import { createRequire } from 'node:module';
import { cutAt, type Reading, type ReadMessage, type ReadOptions } from './reading.ts';

interface NodeParser {
  initialize(type: number, resource: object, mostHeadBytes: number, lenient: number): void;
  execute(bytes: Buffer): number | ParseFailure;
  finish(): ParseFailure | undefined;
  [callback: number]: (...args: never[]) => unknown;
}
interface ParseFailure extends Error {
  readonly code: string;
}
interface NodeParserClass {
  new (): NodeParser;
  readonly REQUEST: number;
  readonly RESPONSE: number;
  readonly kOnMessageBegin: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}

const require = createRequire(import.meta.url);
const { HTTPParser }: { HTTPParser: NodeParserClass } = require('node:_http_common');
/** Node.js passes methods as llhttp's numbers. */
const { METHODS }: { METHODS: Readonly<Record<string, number>> } = require('undici/lib/llhttp/constants.js');
const METHOD_NAMES = Object.entries(METHODS).reduce<string[]>((names, [name, number]) => {
  names[number] = name;
  return names;
}, []);
const NOT_LENIENT = 0;
/** What Node.js does if `onHeadersComplete` returns it. */
const READ_BODY = 0;
const SKIP_BODY = 1;

type HeadersComplete = [
  major: number,
  minor: number,
  headers: string[] | undefined,
  method: number | undefined,
  target: string | undefined,
  status: number | undefined,
  reason: string | undefined,
  upgrade: boolean,
  keepAlive: boolean,
];

/** Reads one connection after another. */
export class NodeReader {
  readonly #parser = new HTTPParser();
  #reading: Reading = { messages: [], failure: null };
  #isResponse = false;
  #answersHead = false;
  #flushedHeaders: string[] = [];
  #flushedTarget = '';
  #isWhole = false;
  #inMessage = false;

  constructor() {
    const parser = this.#parser;
    parser[HTTPParser.kOnMessageBegin] = () => {
      this.#inMessage = true;
    };
    parser[HTTPParser.kOnHeaders] = (headers: string[], target: string) => {
      this.#flushedHeaders.push(...headers);
      this.#flushedTarget += target;
    };
    parser[HTTPParser.kOnHeadersComplete] = (...args: HeadersComplete) => this.#takeHead(args);
    parser[HTTPParser.kOnBody] = (chunk: Buffer) => {
      const message = this.#reading.messages.at(-1);
      if (message !== undefined) message.body += chunk.toString('latin1');
    };
    parser[HTTPParser.kOnMessageComplete] = () => {
      const message = this.#reading.messages.at(-1);
      if (message !== undefined) message.trailers = this.#flushedHeaders;
      this.#flushedHeaders = [];
      // It passes the target again with trailers.
      this.#flushedTarget = '';
      this.#isWhole = true;
      this.#inMessage = false;
    };
  }

  /**
   * Reads bytes, and the end of their connection. `ends`: where messages may end. Node.js does not say where one does;
   * so it gets the bytes in pieces, of which one ends with each of these.
   */
  read(bytes: Buffer, ends: readonly number[], options: ReadOptions): Reading {
    const reading: Reading = { messages: [], failure: null };
    this.#reading = reading;
    this.#isResponse = options.kind === 'response';
    this.#answersHead = options.answersHead;
    this.#flushedHeaders = [];
    this.#flushedTarget = '';
    this.#inMessage = false;
    const type = this.#isResponse ? HTTPParser.RESPONSE : HTTPParser.REQUEST;
    this.#parser.initialize(type, {}, options.mostHeadBytes, NOT_LENIENT);
    let offset = 0;
    for (const piece of cutAt(bytes, [...ends.map((end) => end - 1), ...ends])) {
      for (let at = 0; at < piece.length; ) {
        this.#isWhole = false;
        const result = this.#parser.execute(at === 0 ? piece : piece.subarray(at));
        if (typeof result !== 'number') {
          reading.failure = result.code;
          return reading;
        }
        // Behind a message that asks for another protocol it stops, and goes on if it is called again.
        const count = Math.min(Math.max(result, 0), piece.length - at);
        // It says nothing about errors in the body of such a message, but that not all was read.
        if (count < piece.length - at && !this.#isWhole && reading.messages.at(-1)?.upgrade) {
          reading.failure = 'untold';
          return reading;
        }
        at += count;
        offset += count;
        const message = reading.messages.at(-1);
        if (this.#isWhole && message !== undefined) message.end = offset;
      }
    }
    this.#isWhole = false;
    const failure = this.#parser.finish();
    // It also refuses the end of the connection behind a whole message that has switched to another protocol, and does
    // not refuse it in a message behind such a one.
    if (this.#inMessage) reading.failure = failure?.code ?? 'untold';
    const message = reading.messages.at(-1);
    if (this.#isWhole && message !== undefined) message.end = offset;
    return reading;
  }

  #takeHead([major, minor, headers, method, target, status, , upgrade, keepAlive]: HeadersComplete): number {
    const message: ReadMessage = {
      method: this.#isResponse ? '' : (METHOD_NAMES[method ?? -1] ?? ''),
      target: this.#isResponse ? '' : (target ?? this.#flushedTarget),
      status: status ?? 0,
      version: `${major}.${minor}`,
      headers: headers ?? this.#flushedHeaders,
      keepAlive,
      upgrade,
      body: '',
      trailers: [],
      end: -1,
    };
    this.#flushedHeaders = [];
    this.#flushedTarget = '';
    this.#reading.messages.push(message);
    // As the client of node:http does: it alone knows what was asked for.
    return this.#isResponse && (this.#answersHead || isInterim(message.status)) ? SKIP_BODY : READ_BODY;
  }
}

/** Has no body (RFC 9112, section 6.3); llhttp knows that of the registered ones only. */
function isInterim(status: number): boolean {
  return status >= 100 && status < 200;
}
