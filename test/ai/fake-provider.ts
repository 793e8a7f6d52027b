/** The server under a fake AI provider: keeps what was asked, and fails in the ways that models' names say. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FilesAnswer, FilesRequest } from './files-api.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** As it came. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface FakeProvider {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Connections that are open. */
  readonly open: ReadonlySet<object>;
  /** Bytes of endless streams that the other side has taken so far. */
  readonly endlessly: { bytes: number };
  close(): Promise<void>;
}

/** What a provider answers. */
export interface Protocol {
  /** A model `NAME:half` fails so at the provider of this name only. */
  readonly name: string;
  /** A whole answer to a request that is valid; throws Refusal. */
  answer(request: SeenRequest): object;
  /** The texts of the events of the same answer. */
  events(request: SeenRequest): readonly string[];
  /** Null where the request is not about files; throws Refusal. Default: it has none. */
  files?(request: FilesRequest): Promise<FilesAnswer | null>;
  /** Answers a GET; throws Refusal. */
  models(request: SeenRequest): object;
  /** Body of an error. */
  error(refusal: Refusal): object;
}

export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export async function startProvider(protocol: Protocol): Promise<FakeProvider> {
  const seen: SeenRequest[] = [];
  const open = new Set<Socket>();
  const endlessly = { bytes: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', async () => {
      const { method = '', url = '', headers } = request;
      const bytes = Buffer.concat(chunks);
      const text = bytes.toString();
      const body: unknown = text.startsWith('{') ? JSON.parse(text) : {};
      const one = { method, url, headers, text, body: Object(body) };
      seen.push(one);
      if (await answersFiles(protocol, { method, url, headers, bytes }, response)) return;
      answer(protocol, one, response, endlessly);
    });
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, open, endlessly, close: () => closed(server) };
}

async function answersFiles(protocol: Protocol, request: FilesRequest, response: ServerResponse): Promise<boolean> {
  try {
    const answered = (await protocol.files?.(request)) ?? null;
    if (answered === null) return false;
    response.writeHead(200, { 'content-type': answered.type, 'openai-organization': 'org-planted' }).end(answered.body);
  } catch (error) {
    refuse(protocol, error, response);
  }
  return true;
}

function refuse(protocol: Protocol, error: unknown, response: ServerResponse): void {
  if (!(error instanceof Refusal)) throw error;
  response.writeHead(error.status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(protocol.error(error)));
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function behaviourOf({ name }: Protocol, model: string): string {
  if (!model.includes(':')) return model;
  return model.startsWith(`${name}:`) ? model.slice(name.length + 1) : 'well';
}

function answer(
  protocol: Protocol,
  request: SeenRequest,
  response: ServerResponse,
  endlessly: FakeProvider['endlessly'],
): void {
  const model = behaviourOf(protocol, String(request.body['model']));
  if (model === 'silent') return;
  const [, again] = /^retry-after-(.*)$/.exec(model) ?? [];
  const [, status] = /^status-(\d+)$/.exec(again === undefined ? model : 'status-429') ?? [];
  if (status === '429') response.setHeader('set-cookie', 'planted=1');
  if (status === '429' && again !== 'never') response.setHeader('retry-after', again ?? '7');
  try {
    if (status !== undefined) throw new Refusal(Number(status), 'planted', 'planted');
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      return void response.end(JSON.stringify(protocol.models(request)));
    }
    const whole = protocol.answer(request);
    const [, left] = /^quota-(\d+)$/.exec(model) ?? [];
    if (left !== undefined) {
      response.setHeader('x-ratelimit-remaining-tokens', left).setHeader('x-ratelimit-limit-tokens', '100');
    }
    if (model === 'endless') return endless(response, protocol.events(request), endlessly);
    if (request.body['stream'] === true) return stream(protocol.events(request), model, response);
    if (model === 'garbage') return void response.end('<html>');
    const text = JSON.stringify(whole);
    response.setHeader('content-type', 'application/json').setHeader('x-ratelimit-remaining-requests', '9');
    if (model === 'costly') return void response.end(withCostlyMember(text));
    if (model !== 'half') return void response.end(text);
    response.setHeader('content-length', text.length).write(text.slice(0, 20), () => response.destroy());
  } catch (error) {
    refuse(protocol, error, response);
  }
}

function stream(events: readonly string[], model: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).flushHeaders();
  const half = events.slice(0, Math.ceil(events.length / 2)).join('');
  switch (model) {
    case 'garbage':
      return void response.end('data: {"nonsense\n\ndata: <html>\n\n');
    case 'empty':
      return void response.end();
    case 'page':
      return void response.end('<html><body>Sign in</body></html>');
    case 'comments':
      return void response.end(': one\n\n: two\n\ndata: [DONE]\n\n');
    case 'other-json':
      return void response.end('data: {"hello":"world"}\n\ndata: {}\n\n');
    case 'endless-comments':
      return void response.write(`: ${'x'.repeat(1000)}\n\n`.repeat(100));
    case 'error-at-once':
      return void response.end('data: {"type":"error","message":"planted","error":{"message":"planted"}}\n\n');
    case 'late':
      return void response.end(`: wait\n\n${events.join('')}`);
    case 'cut':
      return void response.destroy();
    case 'half':
      return void response.write(`${half}data: {"cut`, () => response.destroy());
    case 'ends-early':
      return void response.end(half);
    case 'stalls':
      return void response.write(half);
    case 'huge':
      return void response.end(`${half}data: ${'x'.repeat(10 << 20)}\n\n`);
    case 'costly':
      return void response.end(`${half}data: ${withCostlyMember('{"type":"ping"}')}\n\n`);
    case 'lines':
    case 'comments-later':
    case 'pings':
    case 'lines-of-data':
      response.write(half);
      return flood(response, SILENCE[model]);
    case 'byte-by-byte':
      return void byteByByte(response, Buffer.from(events.join('')));
    default:
      return void response.end(events.join(''));
  }
}

/** What says nothing, however much comes of it. */
const SILENCE = {
  lines: '\n'.repeat(1000),
  'comments-later': ': so\n\n'.repeat(1000),
  pings: 'event: ping\ndata: {"type":"ping"}\n\n'.repeat(100),
  'lines-of-data': 'data:\n'.repeat(1000),
};

/** Three million bytes that JSON.parse takes a quarter of a second for, beside what the object says. */
function withCostlyMember(object: string): string {
  return `${object.slice(0, -1)},"planted":[${'[],'.repeat(1_000_000)}[]]}`;
}

/** One piece a turn of the event loop, so that each arrives by itself. */
async function byteByByte(response: ServerResponse, bytes: Buffer): Promise<void> {
  for (const byte of bytes) await new Promise<void>((resolve) => response.write(Uint8Array.of(byte), () => resolve()));
  response.end();
}

function endless(response: ServerResponse, events: readonly string[], endlessly: FakeProvider['endlessly']): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(events.slice(0, 3).join(''));
  flood(response, `: ${'x'.repeat(60_000)}\n\n`, endlessly);
}

function flood(response: ServerResponse, piece: string, endlessly = { bytes: 0 }): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece)) endlessly.bytes += piece.length;
  };
  response.on('drain', more);
  more();
}
