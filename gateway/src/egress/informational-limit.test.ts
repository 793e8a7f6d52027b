import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { BufferBudget } from '../memory/buffer-budget.ts';
import { download } from '../plugins/download.ts';
import { EgressGuard } from './guard.ts';
import { HttpClient } from './http-client.ts';

const HINT = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
const LARGE = `HTTP/1.1 103 Early Hints\r\nLink: <${'a'.repeat(50_000)}>\r\n\r\n`;
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const MOST_RESPONSES = 100;
const TIMEOUT_MS = 600_000;

// docs/decisions.md#informational-bounded
describe("informational responses to a program's own calls", () => {
  const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
  const budget = new BufferBudget(1 << 20);
  const client = new HttpClient({ guard, allowPlaintext: true, maxResponseBytes: 1 << 20, budget });
  const connections = new Set<Socket>();
  let server: Server;
  let url = '';

  beforeAll(async () => {
    server = createServer((socket) => {
      connections.add(socket);
      socket.on('error', () => {}).on('close', () => connections.delete(socket));
      socket.once('data', (head) => answer(socket, String(head).split(' ')[1] ?? ''));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await client.close();
    server.close();
  });

  const endless = {
    call: () => client.call({ method: 'GET', url: `${url}/endless`, timeoutMs: TIMEOUT_MS }),
    open: () => client.open({ method: 'GET', url: `${url}/endless`, timeoutMs: TIMEOUT_MS }),
    upgrade: () =>
      client.upgrade(
        { method: 'GET', url: `${url}/endless`, timeoutMs: TIMEOUT_MS },
        { protocol: 'websocket', faultOf: () => null },
      ),
    'large ones': () => client.call({ method: 'GET', url: `${url}/large`, timeoutMs: TIMEOUT_MS }),
    'a download': () => download(`${url}/endless`, { guard, allowPlaintext: true, timeoutMs: TIMEOUT_MS }),
  };
  it.each(Object.entries(endless))('end the call if they do not end: %s', async (_, call) => {
    await expect(call()).rejects.toThrow('informational responses without end');
    await eventually(() => connections.size === 0);
  });

  it('are passed over up to a number', async () => {
    const answered = await client.call({ method: 'GET', url: `${url}/some`, timeoutMs: TIMEOUT_MS });
    expect([answered.status, String(answered.body)]).toEqual([200, 'ok']);
  });
});

function answer(socket: Socket, path: string): void {
  if (path === '/some') return void socket.write(HINT.repeat(MOST_RESPONSES) + ANSWER);
  const piece = path === '/large' ? LARGE : HINT.repeat(10);
  const go = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', go);
  go();
}
