/** llhttp, in the WebAssembly build that undici carries (docs/decisions.md#own-http1). All parsers share its memory. */
import wasm from 'undici/lib/llhttp/llhttp_simd-wasm.js';

/** Receives llhttp's calls while it reads. Results of `headComes` are llhttp's. */
export interface LlhttpEvents {
  messageBegins(): void;
  headComes(status: number, upgrade: boolean, keepAlive: boolean): number;
  /** The end of a message, or of its head if its body passes by. */
  messageEnds(): void;
}

interface Llhttp {
  readonly memory: WebAssembly.Memory;
  malloc(bytes: number): number;
  llhttp_alloc(type: number): number;
  llhttp_free(parser: number): void;
  llhttp_execute(parser: number, at: number, length: number): number;
  llhttp_resume(parser: number): void;
  llhttp_resume_after_upgrade(parser: number): void;
  llhttp_get_error_pos(parser: number): number;
  llhttp_get_error_reason(parser: number): number;
  llhttp_get_method(parser: number): number;
  llhttp_get_http_major(parser: number): number;
  llhttp_get_http_minor(parser: number): number;
  llhttp_method_name(method: number): number;
  llhttp_errno_name(error: number): number;
}

export const OK = 0;
export const PAUSED = 21;
export const PAUSED_UPGRADE = 22;

/** Bytes that are parsed at once. */
export const INPUT_BYTES = 64 << 10;

/** Kinds of spans. */
export const TARGET = 0;
const NAME = 1;
const VALUE = 2;
export const DATA = 3;

/** Parts of the bytes under way: kind, and places of the first byte and behind the last one. */
export const spans: number[] = [];
/** Receiver of the calls. */
let events: LlhttpEvents;

function note(kind: number, at: number, length: number): number {
  spans.push(kind, at - input, at - input + length);
  return OK;
}

export const llhttp = new WebAssembly.Instance(new WebAssembly.Module(wasm), {
  env: {
    wasm_on_message_begin: () => {
      events.messageBegins();
      return OK;
    },
    wasm_on_url: (_: number, at: number, length: number) => note(TARGET, at, length),
    wasm_on_status: () => OK,
    wasm_on_header_field: (_: number, at: number, length: number) => note(NAME, at, length),
    wasm_on_header_value: (_: number, at: number, length: number) => note(VALUE, at, length),
    wasm_on_headers_complete: (_: number, status: number, upgrade: number, keepAlive: number) =>
      events.headComes(status, upgrade !== 0, keepAlive !== 0),
    wasm_on_body: (_: number, at: number, length: number) => note(DATA, at, length),
    wasm_on_message_complete: () => {
      events.messageEnds();
      return PAUSED;
    },
  },
}).exports as unknown as Llhttp;
const input = llhttp.malloc(INPUT_BYTES);
let memory = new Uint8Array(llhttp.memory.buffer);

/** The same bytes, if the memory has grown. */
function heap(): Uint8Array {
  if (memory.buffer !== llhttp.memory.buffer) memory = new Uint8Array(llhttp.memory.buffer);
  return memory;
}

/** Copies at most INPUT_BYTES bytes, which `execute` then reads, and forgets the spans of those before. */
export function setInput(bytes: Uint8Array): void {
  spans.length = 0;
  heap().set(bytes, input);
}

/** Has a parser read the input from one place to another; returns a code of llhttp. */
export function execute(parser: number, receiver: LlhttpEvents, from: number, to: number): number {
  events = receiver;
  return llhttp.llhttp_execute(parser, input + from, to - from);
}

/** Returns the place in the input at which a parser has stopped. */
export function stoppedAt(parser: number): number {
  return llhttp.llhttp_get_error_pos(parser) - input;
}

export function errorName(code: number): string {
  return textAt(llhttp.llhttp_errno_name(code));
}

export function errorReason(parser: number): string {
  return textAt(llhttp.llhttp_get_error_reason(parser));
}

const methods: string[] = [];

/** Returns the method of the request that a parser reads. */
export function methodOf(parser: number): string {
  const number = llhttp.llhttp_get_method(parser);
  methods[number] ??= textAt(llhttp.llhttp_method_name(number));
  return methods[number];
}

/** Bytes of memory that all parsers share. They never shrink. */
export function llhttpMemoryBytes(): number {
  return llhttp.memory.buffer.byteLength;
}

function textAt(pointer: number): string {
  const bytes = heap();
  return Buffer.from(bytes.subarray(pointer, bytes.indexOf(0, pointer))).toString('latin1');
}
