/** Heads, bodies and limits as llhttp and Node.js have them, whatever pieces the bytes come in. */
import { describe, expect, it } from 'vitest';
import { cutAt, cutEverywhere, type Kind, type Reading, readPieces } from '../../../test/http1/reading.ts';
import { MessageParser, type MessageReceiver } from './message-parser.ts';

const MOST_HEAD_BYTES = 1000;
const IGNORES: MessageReceiver = { head: () => {}, data: () => {}, end: () => {} };

interface Setting {
  readonly kind?: Kind;
  readonly mostHeadBytes?: number;
  readonly answersHead?: boolean;
}

/** Reads the text in one piece, in two with each place between, and byte by byte: every time it reads the same. */
function read(text: string, { kind = 'request', mostHeadBytes = MOST_HEAD_BYTES, answersHead = false }: Setting = {}) {
  const bytes = Buffer.from(text, 'latin1');
  const options = { kind, mostHeadBytes, answersHead };
  const whole = readPieces([bytes], options);
  expect(readPieces(cutEverywhere(bytes), options)).toEqual(whole);
  // Long ones at some places only.
  const step = Math.ceil(bytes.length / 2000);
  for (let at = 1; at < bytes.length; at += step) expect(readPieces(cutAt(bytes, [at]), options)).toEqual(whole);
  return whole;
}

function readResponse(text: string, setting: Setting = {}): Reading {
  return read(text, { kind: 'response', ...setting });
}

describe('transfer codings', () => {
  const codings = [
    'gzip, chunked',
    'chunked, gzip',
    'gzip',
    '',
    'chunked\t',
    'identity',
    'chunked, chunked',
    'chunked,',
  ];

  it.each(codings)('refuses %j in a response, without its head', (coding) => {
    const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
    expect(readResponse(text)).toEqual({ messages: [], failure: 'HPE_INVALID_TRANSFER_ENCODING' });
  });

  it.each(codings)('refuses %j in a request, without its head', (coding) => {
    const text = `POST / HTTP/1.1\r\nTransfer-Encoding: ${coding}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
    expect(read(text)).toEqual({ messages: [], failure: 'HPE_INVALID_TRANSFER_ENCODING' });
  });

  it.each(['chunked', 'Chunked', '  chunked  '])('reads %j', (coding) => {
    const text = `POST / HTTP/1.1\r\nTransfer-Encoding: ${coding}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
    expect(read(text)).toMatchObject({ messages: [{ body: 'hello', end: text.length }], failure: null });
  });
});

describe('fields that llhttp misreads', () => {
  it.each(['close\t', 'close\t, x', 'keep-alive, close\t', 'Upgrade\t'])('refuses Connection: %j', (value) => {
    for (const name of ['Connection', 'Proxy-Connection']) {
      const refused = { messages: [], failure: 'HPE_INVALID_HEADER_TOKEN' };
      expect(read(`GET / HTTP/1.1\r\n${name}: ${value}\r\n\r\n`)).toEqual(refused);
      expect(readResponse(`HTTP/1.1 200 OK\r\n${name}: ${value}\r\n\r\n`)).toEqual(refused);
    }
  });

  it('takes a tab before the value of Connection', () => {
    const { messages, failure } = read('GET / HTTP/1.1\r\nConnection:\tclose\r\n\r\n');
    expect({ messages, failure }).toMatchObject({ messages: [{ keepAlive: false }], failure: null });
  });

  it.each(['Transfer-Encoding:', 'Transfer-Encoding: chunked', 'Content-Length: 5', 'Connection: close\t'])(
    'refuses %j behind chunks',
    (field) => {
      const body = `5\r\nhello\r\n0\r\nX-A: 1\r\n${field}\r\n\r\n`;
      const { messages, failure } = read(`POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
      expect(messages).toMatchObject([{ body: 'hello', end: -1 }]);
      expect(failure).not.toBeNull();
    },
  );
});

describe('limits', () => {
  const lines = 'GET /abc HTTP/1.1\r\nX-A: 1\r\n';
  /** A head of so many bytes. */
  const headOf = (length: number) => `${lines}X-B: ${'b'.repeat(length - lines.length - 9)}\r\n\r\n`;
  const tooLarge = { messages: [], failure: 'HPE_HEADER_OVERFLOW' };

  it('takes a head of as many bytes as the limit, in pieces or whole, and none of one more', () => {
    expect(read(headOf(MOST_HEAD_BYTES))).toMatchObject({ messages: [{ end: MOST_HEAD_BYTES }], failure: null });
    expect(read(headOf(MOST_HEAD_BYTES + 1))).toEqual(tooLarge);
    expect(read(headOf(60_000))).toEqual(tooLarge);
  });

  it('counts empty lines before a head, and the reason phrase', () => {
    expect(read('\r\n'.repeat(MOST_HEAD_BYTES))).toEqual(tooLarge);
    expect(read('\r\n'.repeat(490) + headOf(100))).toEqual(tooLarge);
    expect(readResponse(`HTTP/1.1 200 ${'O'.repeat(MOST_HEAD_BYTES)}\r\n\r\n`)).toEqual(tooLarge);
  });

  it('counts each head for itself', () => {
    const { messages, failure } = read(headOf(900).repeat(3) + chunked('5\r\nhello\r\n0\r\n\r\n') + headOf(900));
    expect(failure).toBeNull();
    expect(messages).toHaveLength(5);
  });

  it('refuses a head with a fault behind the limit for its size', () => {
    expect(read(`${headOf(MOST_HEAD_BYTES + 5).trimEnd()}\r\nX A: 1\r\n\r\n`)).toEqual(tooLarge);
    expect(read(headOf(MOST_HEAD_BYTES).replace('X-A', 'X A'))).toMatchObject({ failure: 'HPE_INVALID_HEADER_TOKEN' });
  });

  it.each([
    ['in the target', `GET /${'a'.repeat(MOST_HEAD_BYTES)} HTTP/1.1\r\nHost: a\r\n\r\n`, true],
    ['in the target, whose end is not there', `GET /${'a'.repeat(MOST_HEAD_BYTES)}`, true],
    ['in the last byte of the target', `GET /${'a'.repeat(MOST_HEAD_BYTES - 4)} HTTP/1.1\r\n\r\n`, true],
    ['behind the target', `GET /${'a'.repeat(MOST_HEAD_BYTES - 5)} HTTP/1.1\r\n\r\n`, false],
    ['in a field', headOf(MOST_HEAD_BYTES + 1), false],
    ['before the request', `${'\r\n'.repeat(600)}GET /a HTTP/1.1\r\n\r\n`, false],
  ])('says that a head is too large %s', (_, text, inTarget) => {
    const bytes = Buffer.from(text);
    for (const pieces of [[bytes], cutEverywhere(bytes), cutAt(bytes, [500]), cutAt(bytes, [bytes.length - 1])]) {
      const parser = new MessageParser('request', IGNORES, MOST_HEAD_BYTES);
      const parse = () => pieces.map((piece) => parser.read(piece));
      expect(parse).toThrow(expect.objectContaining({ failure: 'head-too-large', inTarget }));
      parser.free();
    }
  });

  /** A request whose chunks are these. */
  function chunked(body: string): string {
    return `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
  }

  const extension = (length: number) => `;${'e'.repeat(length - 1)}`;
  const overflow = { failure: 'HPE_CHUNK_EXTENSIONS_OVERFLOW' };

  it('takes 16 KiB between pieces of data, and no more', () => {
    // With the size, and the ends of both lines.
    const most = (16 << 10) - 3;
    const first = (length: number) => chunked(`5${extension(length)}\r\nhello\r\n0\r\n\r\n`);
    expect(read(first(most))).toMatchObject({ messages: [{ body: 'hello' }], failure: null });
    expect(read(first(most + 1))).toMatchObject({ messages: [{ body: '', end: -1 }], ...overflow });
    const second = (length: number) => chunked(`5\r\nhello\r\n5${extension(length)}\r\nworld\r\n0\r\n\r\n`);
    expect(read(second(most - 2))).toMatchObject({ messages: [{ body: 'helloworld' }], failure: null });
    expect(read(second(most - 1))).toMatchObject({ messages: [{ body: 'hello', end: -1 }], ...overflow });
    const last = (length: number) => chunked(`5\r\nhello\r\n0${extension(length)}\r\n\r\n`);
    expect(read(last(most - 4))).toMatchObject({ messages: [{ body: 'hello' }], failure: null });
    expect(read(last(most - 3))).toMatchObject({ messages: [{ body: 'hello', end: -1 }], ...overflow });
    const size = `${'0'.repeat(most + 1)}5`;
    expect(read(chunked(`${size}\r\nhello\r\n0\r\n\r\n`))).toMatchObject({ messages: [{ body: '' }], ...overflow });
  });

  it('counts extensions of each chunk for themselves', () => {
    const chunk = `1${extension(1000)}\r\nx\r\n`;
    expect(read(chunked(`${chunk.repeat(30)}0\r\n\r\n`))).toMatchObject({ messages: [{ body: 'x'.repeat(30) }] });
  });

  it('takes trailers of as many bytes as a head, and no more', () => {
    const trailer = (length: number) => chunked(`0\r\nX-T: ${'t'.repeat(length - 9)}\r\n\r\n`);
    expect(read(trailer(MOST_HEAD_BYTES)).failure).toBeNull();
    expect(read(trailer(MOST_HEAD_BYTES + 1))).toMatchObject({
      messages: [{ end: -1 }],
      failure: 'HPE_HEADER_OVERFLOW',
    });
  });
});

describe('status lines', () => {
  it.each(['000', '099', '99', '1000', '20x', '+20', ''])('refuses the status %j', (status) => {
    const { messages, failure } = readResponse(`HTTP/1.1 ${status} Some\r\nContent-Length: 2\r\n\r\nhi`);
    expect({ messages, failure }).toEqual({ messages: [], failure: 'HPE_INVALID_STATUS' });
  });

  it.each(['200\r\r', '200 OK\r\r', '200 \r\r', '200\r', '200 OK\r', '200\n', '200 OK\n', '200\r\r\n'])(
    'refuses the end of the line in %j',
    (text) => {
      for (const behind of ['X-A: 1\r\n\r\n', '\r\n']) {
        const { messages, failure } = readResponse(`HTTP/1.1 ${text}${behind}`);
        expect(messages).toEqual([]);
        expect(failure).not.toBeNull();
      }
    },
  );

  it.each(['200 OK', '200 ', '200', '200  Not  \xe4 '])('takes %j', (text) => {
    const head = `HTTP/1.1 ${text}\r\nContent-Length: 2\r\n\r\n`;
    expect(readResponse(`\r\n${head}\r\r${head}hi`)).toMatchObject({
      messages: [
        { status: 200, body: '\r\r' },
        { status: 200, body: 'hi' },
      ],
      failure: null,
    });
  });
});

describe('messages without a body', () => {
  it.each(['Content-Length: 5', 'Transfer-Encoding: chunked'])('ends CONNECT behind its head, with %s', (field) => {
    const head = `CONNECT a:80 HTTP/1.1\r\n${field}\r\n\r\n`;
    const { messages, failure } = read(`${head}GET / HTTP/1.1\r\n\r\n`);
    expect(failure).toBeNull();
    expect(messages).toMatchObject([{ upgrade: true, body: '', end: head.length }, { method: 'GET' }]);
  });
});

describe('a parser that is freed', () => {
  const text = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';

  it.each(['head', 'data', 'end'] as const)('passes on nothing behind %s', (part) => {
    const seen: string[] = [];
    const note = (name: string) => {
      seen.push(name);
      if (name === part) parser.free();
    };
    const parser: MessageParser = new MessageParser(
      'request',
      { head: () => note('head'), data: () => note('data'), end: () => note('end') },
      MOST_HEAD_BYTES,
    );
    // Behind the message stands what would be refused.
    const bytes = Buffer.from(`${text}\0`);
    let at = 0;
    while (at < bytes.length) at += parser.read(bytes.subarray(at));
    parser.finish();
    parser.free();
    expect(seen).toEqual(['head', 'data', 'end'].slice(0, ['head', 'data', 'end'].indexOf(part) + 1));
  });

  it('throws nothing for bytes behind the part in which it was freed', () => {
    const parser: MessageParser = new MessageParser(
      'request',
      { ...IGNORES, head: () => parser.free() },
      MOST_HEAD_BYTES,
    );
    const bytes = Buffer.from(text.replace('5\r\n', 'x\r\n'));
    expect(() => parser.read(bytes)).not.toThrow();
    expect(parser.read(bytes)).toBe(bytes.length);
  });

  it('passes on no more of a body of known length, or up to the end', () => {
    for (const head of ['HTTP/1.1 200 OK\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n']) {
      const seen: string[] = [];
      const parser = new MessageParser(
        'response',
        { ...IGNORES, data: (chunk) => seen.push(chunk.toString()), end: () => seen.push('end') },
        MOST_HEAD_BYTES,
      );
      parser.read(Buffer.from(`${head}one`));
      parser.free();
      parser.read(Buffer.from('two'));
      parser.finish();
      expect(seen).toEqual(['one']);
    }
  });
});
