/** Requests of HTTP/2 that RFC 9113 calls malformed, as frames of our own making: no client sends them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { raw } from './http.ts';
import { ACK, frame, HEADERS, literal, PREFACE, RST_STREAM, SETTINGS, WHOLE } from './http2-frames.ts';

type Fields = readonly (readonly [name: string, value: string])[];
const responses = {};
/** What the operation answers with: a header that is not there stays as it is written. */
const SHOWN = '{{headers.x-a}} {{headers.accept}}';
const PROTOCOL_ERROR = 1;

function request(changed: Readonly<Record<string, string>>, more: Fields): Buffer {
  const pseudo = { ':method': 'GET', ':path': '/echo', ':scheme': 'http', ':authority': 'a.example', ...changed };
  return Buffer.concat([...Object.entries(pseudo), ...more].map(([name, value]) => literal(name, value)));
}

describe('malformed requests of HTTP/2', () => {
  let gw: Gateway;
  beforeAll(async () => {
    const parameters = [{ name: 'rest', in: 'path', required: true, allowReserved: true, schema: { type: 'string' } }];
    const dispatch = { name: 'mock', config: { body: SHOWN } };
    const artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Malformed', version: '1' },
        paths: { '/{rest+}': { parameters, get: { responses, 'x-gw-dispatch': dispatch } } },
      },
      ['mock'],
    );
    gw = await startGateway(artifact);
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
  });

  /** The body that answers the request, or with what its stream is reset. */
  async function send(changed: Readonly<Record<string, string>>, more: Fields = []): Promise<string> {
    const { socket } = raw(Number(new URL(gw.url).port));
    const frames = [frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0), frame(HEADERS, WHOLE, 1, request(changed, more))];
    let bytes = Buffer.alloc(0);
    const answer = new Promise<string>((resolve) => {
      socket.on('data', (text) => {
        bytes = Buffer.concat([bytes, Buffer.from(String(text), 'latin1')]);
        const found = answerIn(bytes);
        if (found !== null) resolve(found);
      });
      socket.on('close', () => resolve('closed'));
    });
    socket.write(Buffer.concat([PREFACE, ...frames]));
    try {
      return await answer;
    } finally {
      socket.destroy();
    }
  }

  function answerIn(bytes: Buffer): string | null {
    for (let at = 0; at + 9 <= bytes.length; ) {
      const end = at + 9 + bytes.readUIntBE(at, 3);
      if (end > bytes.length) return null;
      const type = bytes.readUInt8(at + 3);
      if (type === RST_STREAM) return `reset with ${bytes.readUInt32BE(at + 9)}`;
      if (type === 0) return bytes.toString('latin1', at + 9, end);
      at = end;
    }
    return null;
  }

  it.each([
    ['a :path with UTF-8', { ':path': '/f\u00c3\u00a4' }],
    ['a :path with bytes above ASCII', { ':path': '/f\u00e4' }],
    ['a query with bytes above ASCII', { ':path': '/f?a=\u00ff' }],
  ])('with %s are refused', async (_, changed) => {
    expect(JSON.parse(await send(changed))).toMatchObject({
      type: 'urn:gw:error:malformed-request',
      status: 400,
      detail: 'The :path holds a byte that must be percent-encoded.',
    });
  });

  it.each([' b', 'b ', '\tb', 'b\t', ' '])('with a field whose value is %j are refused', async (value) => {
    expect(JSON.parse(await send({}, [['x-a', value]]))).toMatchObject({
      type: 'urn:gw:error:malformed-request',
      detail: 'The value of a field begins or ends with white space.',
    });
  });

  it.each(
    [' ', '\t', '\r', '\n', '\0', '\u0001', '\u007f'].flatMap((byte) => [
      [`:path with ${JSON.stringify(byte)}`, { ':path': `/a${byte}b` }],
      [`:authority with ${JSON.stringify(byte)}`, { ':authority': `a${byte}b` }],
      [`:method with ${JSON.stringify(byte)}`, { ':method': `G${byte}T` }],
      [`:scheme with ${JSON.stringify(byte)}`, { ':scheme': `ht${byte}tp` }],
    ]),
  )('with a %s are reset', async (_, changed) => {
    expect(await send(changed as Record<string, string>)).toBe(`reset with ${PROTOCOL_ERROR}`);
  });

  it.each([
    ['a value with CR', 'x-a', 'a\rb'],
    ['a value with LF', 'x-a', 'a\nb'],
    ['a value with NUL', 'accept', 'a\0b'],
    ['a name with a space', 'x a', 'b'],
    ['a name with a colon', 'x-a:', 'b'],
    ['a name with a byte above ASCII', 'x-\u00e4', 'b'],
  ])('lose a field, of %s, before anything sees it', async (_, name, value) => {
    expect(await send({}, [[name, value]])).toBe(SHOWN);
  });

  it('are told from those that are not', async () => {
    expect(
      await send({}, [
        ['x-a', 'b'],
        ['accept', 'a/b'],
      ]),
    ).toBe('b a/b');
  });
});
