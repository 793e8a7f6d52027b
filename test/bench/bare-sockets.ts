/**
 * `node bare-sockets.ts [UPSTREAM_PORT] PORT`: sockets with llhttp and nothing else, the floor for any gateway on
 * Node.js. With an upstream it is a proxy, without one it answers itself, as a mock does. It has no limits, time-outs,
 * streaming or errors: for the benchmark alone.
 */
import { connect, createServer, type Socket } from 'node:net';
import wasm from 'undici/lib/llhttp/llhttp_simd-wasm.js';

const [port = 0, upstreamPort] = process.argv.slice(2).map(Number).reverse();
const [REQUEST, RESPONSE] = [1, 2];
const METHODS = ['DELETE', 'GET', 'HEAD', 'POST', 'PUT'];
const NOT_PASSED_ON = new Set(['connection', 'keep-alive', 'host', 'transfer-encoding']);
const ADDED = 'server: gw\r\nx-content-type-options: nosniff\r\nx-frame-options: DENY\r\n';
const ANSWER =
  '{"id":42,"title":"The Left Hand of Darkness","author":"Ursula K. Le Guin","price":12.5,"in_stock":true}';

class Message {
  readonly #parser: number;
  readonly #complete: (message: Message) => void;
  url = '';
  status = 0;
  headers: string[] = [];
  body = '';

  constructor(type: number, complete: (message: Message) => void) {
    this.#parser = llhttp.llhttp_alloc(type);
    this.#complete = complete;
  }

  get method(): string {
    return METHODS[llhttp.llhttp_get_method(this.#parser)] ?? '';
  }

  /** Callbacks may read other messages: a response is written in the callback of its upstream. */
  read(bytes: Buffer): boolean {
    new Uint8Array(llhttp.memory.buffer, input, bytes.length).set(bytes);
    const before = reading;
    reading = { message: this, bytes };
    const error = llhttp.llhttp_execute(this.#parser, input, bytes.length);
    reading = before;
    return error === 0;
  }

  complete(): void {
    this.#complete(this);
  }

  free(): void {
    llhttp.llhttp_free(this.#parser);
  }
}

interface Llhttp {
  readonly memory: WebAssembly.Memory;
  llhttp_alloc(type: number): number;
  llhttp_execute(parser: number, at: number, length: number): number;
  llhttp_free(parser: number): void;
  llhttp_get_method(parser: number): number;
  malloc(size: number): number;
}

let reading: { readonly message: Message; readonly bytes: Buffer } | null = null;
const message = () => reading?.message as Message;
const text = (at: number, length: number) => reading?.bytes.latin1Slice(at - input, at - input + length) ?? '';
const set = (apply: () => void) => {
  apply();
  return 0;
};
const llhttp = new WebAssembly.Instance(new WebAssembly.Module(wasm), {
  env: {
    wasm_on_message_begin: () =>
      set(() => {
        message().headers = [];
        message().body = '';
      }),
    wasm_on_url: (_: number, at: number, length: number) => set(() => (message().url = text(at, length))),
    wasm_on_status: () => 0,
    wasm_on_header_field: (_: number, at: number, length: number) =>
      set(() => message().headers.push(text(at, length))),
    wasm_on_header_value: (_: number, at: number, length: number) =>
      set(() => message().headers.push(text(at, length))),
    wasm_on_headers_complete: (_: number, status: number) => set(() => (message().status = status)),
    wasm_on_body: (_: number, at: number, length: number) => set(() => (message().body += text(at, length))),
    wasm_on_message_complete: () => set(() => message().complete()),
  },
}).exports as unknown as Llhttp;
const input = llhttp.malloc(65_536);

let waiting: (() => void)[] = [];
/** All that a turn of the event loop answers is written at its end. */
function atEndOfTurn(task: () => void): void {
  if (waiting.push(task) > 1) return;
  setImmediate(() => {
    const tasks = waiting;
    waiting = [];
    for (const each of tasks) each();
  });
}

function passedOn(headers: readonly string[]): string {
  let out = '';
  for (let i = 0; i < headers.length; i += 2) {
    const name = String(headers[i]).toLowerCase();
    if (!NOT_PASSED_ON.has(name)) out += `${name}: ${headers[i + 1]}\r\n`;
  }
  return out;
}

interface Upstream {
  readonly socket: Socket;
  answered: (response: Message) => void;
}

const idle: Upstream[] = [];
function upstream(upstreamPort: number): Upstream {
  const kept = idle.pop();
  if (kept) return kept;
  const socket = connect({ port: upstreamPort, host: '127.0.0.1', noDelay: true });
  const connection: Upstream = { socket, answered: () => {} };
  const response = new Message(RESPONSE, (whole) => {
    idle.push(connection);
    connection.answered(whole);
  });
  socket.on('data', (bytes: Buffer) => response.read(bytes) || socket.destroy()).on('error', () => {});
  // An upstream ends connections that rest for long, such as between two rounds.
  socket.on('close', () => idle.includes(connection) && idle.splice(idle.indexOf(connection), 1));
  return connection;
}

let requests = 0;
createServer({ noDelay: true }, (client) => {
  const answer = (status: number, headers: string, body: string) => {
    const id = `x-request-id: ${(++requests).toString(16)}\r\n`;
    atEndOfTurn(() => client.write(`HTTP/1.1 ${status} OK\r\n${headers}${ADDED}${id}\r\n${body}`, 'latin1'));
  };
  const request = new Message(REQUEST, ({ method, url, headers }) => {
    if (upstreamPort === undefined) {
      answer(200, `content-type: application/json\r\ncontent-length: ${ANSWER.length}\r\n`, ANSWER);
      return;
    }
    const head = `${method} ${url} HTTP/1.1\r\nhost: upstream\r\n${passedOn(headers)}\r\n`;
    const connection = upstream(upstreamPort);
    connection.answered = ({ status, headers, body }) => answer(status, passedOn(headers), body);
    atEndOfTurn(() => connection.socket.write(head, 'latin1'));
  });
  client.on('data', (bytes: Buffer) => request.read(bytes) || client.destroy());
  client.on('error', () => {}).on('close', () => request.free());
}).listen(port, '127.0.0.1');
