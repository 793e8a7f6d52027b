/** Connections of HTTP/2 that bring much work in few bytes, and others beside them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { raw } from './http.ts';
import { ACK, DATA, END_HEADERS, END_STREAM, frame, HEADERS, literal, PREFACE, SETTINGS } from './http2-frames.ts';

const responses = {};

describe('DATA frames of one byte', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const requestBody = { content: { 'text/plain': { schema: { type: 'string' } } } };
    const artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Frames', version: '1' },
        paths: {
          '/read': { post: { requestBody, responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } } } },
        },
      },
      ['mock'],
    );
    gw = await startGateway(artifact);
  });
  afterAll(async () => {
    await gw?.stop();
  });

  /** Sends a body of so many frames on each of so many streams. Returns what comes back, as long as it goes on. */
  function post(streams: number, frames: number) {
    const { socket } = raw(Number(new URL(gw.url).port));
    const seen = { bytes: Buffer.alloc(0), closed: false, socket };
    socket.on('data', (text) => {
      seen.bytes = Buffer.concat([seen.bytes, Buffer.from(String(text), 'latin1')]);
    });
    socket
      .on('error', () => {})
      .on('close', () => {
        seen.closed = true;
      });
    const fields = {
      ':method': 'POST',
      ':path': '/read',
      ':scheme': 'http',
      ':authority': 'a',
      'content-type': 'text/plain',
    };
    const head = Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value)));
    const parts = [PREFACE, frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0)];
    for (let stream = 1; stream < 2 * streams; stream += 2) {
      parts.push(frame(HEADERS, END_HEADERS, stream, head));
      for (let i = 1; i <= frames; i++) {
        parts.push(frame(DATA, i === frames ? END_STREAM : 0, stream, Buffer.from('a')));
      }
    }
    socket.write(Buffer.concat(parts));
    return seen;
  }

  const answers = (bytes: Buffer) => bytes.toString('latin1').split('ok').length - 1;

  it('are answered as others are, as long as they are few', async () => {
    const seen = post(3, 1000);
    await eventually(() => expect(answers(seen.bytes)).toBe(3));
    seen.socket.destroy();
  });

  it.each([
    ['a stream', 1, 20_000],
    ['all streams together', 40, 500],
  ])('end the connection if %s brings too many', async (_, streams, frames) => {
    const untrusted = post(streams, frames);
    await eventually(() => expect(untrusted.closed).toBe(true));
    expect(answers(untrusted.bytes)).toBeLessThan(40);
    expect(
      (await fetch(`${gw.url}/read`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'a' })).status,
    ).toBe(200);
  });
});
