import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseInTurns } from './read-in-slices.ts';

/** Answers each request in a later turn. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(answer);
  parseInTurns(server, false);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function send(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let answers = '';
  for await (const chunk of socket.setEncoding('latin1')) answers += chunk;
  return answers;
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const LAST = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

describe('a server that parses in turns', () => {
  it('has few pipelined requests at a time, and answers all of them in order', async () => {
    let [open, most, count] = [0, 0, 0];
    const port = await serve((_request, response) => {
      most = Math.max(most, ++open);
      response.once('close', () => open--);
      const body = `${count++} `;
      globalThis.setImmediate(() => response.end(body));
    });
    const answers = await send(port, GET.repeat(2_000) + LAST);
    const bodies = answers.match(/\d+ (?=HTTP|$)/g);
    expect(bodies?.map(Number)).toEqual(Array.from({ length: 2_001 }, (_, i) => i));
    // As many as a slice holds, and not the two thousand of one read.
    expect(most).toBeLessThan(50);
  });

  it.each([
    ['of a known length', (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`],
    [
      'in chunks of one byte',
      (body: string) => `Transfer-Encoding: chunked\r\n\r\n${body.replaceAll(/./g, '1\r\n$&\r\n')}0\r\n\r\n`,
    ],
  ])('reads bodies %s between them, whole', async (_, framed) => {
    const lengths: number[] = [];
    const port = await serve(async (request, response) => {
      let length = 0;
      for await (const chunk of request) length += chunk.length;
      lengths.push(length);
      response.end();
    });
    const post = (length: number) => `POST / HTTP/1.1\r\nHost: a\r\n${framed('x'.repeat(length))}`;
    await send(port, post(100_000) + GET.repeat(100) + post(3) + post(70_000) + LAST);
    expect(lengths.toSorted((a, b) => a - b)).toEqual([...Array(101).fill(0), 3, 70_000, 100_000]);
  });

  it('hands what comes behind an upgrade to whoever takes it', async () => {
    const server = createServer();
    parseInTurns(server, false);
    onTestFinished(() => void server.close());
    server.on('upgrade', (_request, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      let length = 0;
      socket.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length === 5_000) socket.end('whole');
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const upgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n';
    expect(await send(port, upgrade + 'y'.repeat(5_000))).toBe('whole');
  });

  it.each([
    ['behind a request', GET],
    ['behind a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'],
    ['before a request', ''],
  ])('ends a connection that sends empty lines without end, %s', async (_, before) => {
    const port = await serve((request, response) => void request.resume().once('end', () => response.end()));
    const socket = connect(port, '127.0.0.1');
    const closed = once(socket, 'close');
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write(before);
    if (before !== '') await vi.waitFor(() => expect(received).toContain('200 OK'));
    while (!socket.destroyed) {
      socket.write('\r\n');
      await setImmediate();
    }
    await closed;
  });

  it('takes a few empty lines between requests, and heads in pieces of a byte', async () => {
    const port = await serve((_request, response) => response.end('x'));
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let answers = '';
    socket.on('data', (chunk) => {
      answers += chunk;
    });
    const ended = once(socket, 'end');
    for (const byte of `\r\n${GET}\r\n\r\n${GET}${LAST}`) {
      socket.write(byte);
      await setImmediate();
    }
    await ended;
    expect(answers.match(/200 OK/g)).toHaveLength(3);
  });
});
