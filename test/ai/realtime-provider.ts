/** A provider of realtime sessions, as its public documentation has them: repeats what it was told, in text. */
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { CHAT_KEY } from './chat-provider.ts';
import { answerEvents, USAGE } from './realtime-events.ts';

type Event = Readonly<Record<string, unknown>>;

export interface RealtimeProvider {
  readonly url: string;
  /** Handshakes so far. */
  readonly seen: IncomingMessage[];
  /** Connections that are open. */
  readonly connections: ReadonlySet<object>;
  /** Sessions that are open. */
  readonly open: ReadonlySet<WebSocket>;
  close(): Promise<void>;
}

/**
 * A model `NAME:half` behaves so at the provider of this name only. How it opens, by the model: `silent` never answers,
 * `status-429` refuses so, `cut` drops the connection, `page` answers with a page.
 */
export async function startRealtimeProvider(name = 'realtime'): Promise<RealtimeProvider> {
  const seen: IncomingMessage[] = [];
  const http = createServer((_request, response) => void response.writeHead(404).end());
  const sockets = new Set<Socket>();
  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const sessions = new WebSocketServer({ noServer: true, handleProtocols: chosen });
  http.on('upgrade', (request, socket, head) => {
    seen.push(request);
    socket.on('error', () => {});
    const refusal = refusalOf(request, name);
    if (refusal === 'silent') return void socket.resume().on('end', () => socket.destroy());
    if (refusal !== null) return refuse(socket, refusal);
    sessions.handleUpgrade(request, socket, head, (session) => serve(session, modelOf(request)));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    seen,
    connections: sockets,
    open: sessions.clients,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function chosen(offered: Set<string>): string | false {
  return offered.has('realtime') ? 'realtime' : false;
}

function modelOf({ url = '' }: IncomingMessage): string {
  return new URL(url, 'http://a').searchParams.get('model') ?? '';
}

type Refusal = { readonly status: number; readonly code: string } | 'silent' | 'cut' | 'page';

function refusalOf(request: IncomingMessage, name: string): Refusal | null {
  if (request.url?.split('?')[0] !== '/v1/realtime') return { status: 404, code: 'unknown_url' };
  if (request.headers.authorization !== `Bearer ${CHAT_KEY}`) return { status: 401, code: 'invalid_api_key' };
  const model = modelOf(request);
  if (model === '') return { status: 400, code: 'missing_model' };
  const [own, behaviour] = model.includes(':') ? model.split(':') : [name, model];
  if (own !== name) return null;
  if (behaviour === 'silent' || behaviour === 'cut' || behaviour === 'page') return behaviour;
  const [, status] = /^status-(\d+)$/.exec(behaviour ?? '') ?? [];
  return status === undefined ? null : { status: Number(status), code: 'planted' };
}

function refuse(socket: Duplex, refusal: Exclude<Refusal, 'silent'>): void {
  if (refusal === 'cut') return void socket.destroy();
  const [status, body] =
    refusal === 'page'
      ? [200, '<html>']
      : [
          refusal.status,
          JSON.stringify({ error: { message: 'planted', type: 'invalid_request_error', code: refusal.code } }),
        ];
  const head = [
    ...[`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'content-type: application/json', 'set-cookie: planted=1'],
    ...['retry-after: 7', `content-length: ${Buffer.byteLength(body)}`, 'connection: close'],
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function serve(session: WebSocket, model: string): void {
  let said = '';
  const send = (event: Event) => session.send(JSON.stringify({ event_id: `event_${Math.random()}`, ...event }));
  session.on('error', () => {});
  if (model === 'closes') return session.close(1011, 'planted');
  const state = { type: 'realtime', object: 'realtime.session', id: 'sess_1', model, output_modalities: ['audio'] };
  send({ type: 'session.created', session: state });
  session.on('message', (data) => {
    const event: Event = JSON.parse(String(data));
    if (event['type'] === 'session.update') {
      return send({ type: 'session.updated', session: { ...state, ...Object(event['session']) } });
    }
    if (event['type'] === 'conversation.item.create') {
      const item = { id: 'item_1', object: 'realtime.item', status: 'completed', ...Object(event['item']) };
      said = String(Object([Object(event['item']).content].flat()[0]).text);
      send({ type: 'conversation.item.added', previous_item_id: null, item });
      return send({ type: 'conversation.item.done', previous_item_id: null, item });
    }
    if (event['type'] === 'response.create') return respond(session, said, send);
    send({ type: 'error', error: { type: 'invalid_request_error', code: 'invalid_value', message: 'unknown event' } });
  });
}

/** What was said last tells how it answers. */
function respond(session: WebSocket, said: string, send: (event: Event) => void): void {
  const done = (usage: unknown, status = 'completed') =>
    send({ type: 'response.done', response: { object: 'realtime.response', id: 'resp_1', status, output: [], usage } });
  switch (said) {
    case '!begins':
      return send({ type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } });
    case '!huge':
      return session.send(`{"type":"response.done","padding":"${'x'.repeat(20 << 20)}"}`);
    case '!large':
      return send({ type: 'response.done', padding: 'x'.repeat(1 << 20), response: { usage: USAGE } });
    case '!garbage':
      return session.send('{"type":"response.done",nonsense "response.created"');
    case '!binary':
      return session.send(Buffer.from('"response.done"\xff', 'latin1'));
    case '!nested':
      return session.send(`{"type":"response.done","x":${'['.repeat(100_000)}`);
    case '!too-much':
      return session.send('{"type":"response.done","response":{"usage":{"input_tokens":1e300,"output_tokens":1e300}}}');
    case '!negative':
      return done({ ...USAGE, output_tokens: -5 });
    case '!uncounted':
      return done(null);
    case '!failed':
      return done(null, 'failed');
    case '!pieces':
      return inPieces(
        session,
        JSON.stringify({ type: 'response.done', response: { status: 'completed', usage: USAGE } }),
      );
    case '!closes':
      return session.terminate();
    default:
      for (const event of answerEvents(said)) send(event);
  }
}

/** A frame for each byte. */
function inPieces(session: WebSocket, text: string): void {
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i++)
    session.send(bytes.subarray(i, i + 1), { binary: false, fin: i + 1 === bytes.length });
}
