/**
 * Heads, bodies and limits as llhttp and Node.js have them, whatever pieces the bytes come in. The file is long since it
 * has all that one parser is to do, so that a reader sees what is missing.
 */
import { describe, expect, it } from 'vitest';
import { cutAt, cutEverywhere, type Kind, type Reading, readPieces } from '../../../test/http1/reading.ts';
import { llhttpMemoryBytes } from './llhttp.ts';
import { type MessageHead, MessageParser, type MessageReceiver } from './message-parser.ts';

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

describe('heads', () => {
  it('reads method, target, version and fields as they came, without white space around values', () => {
    const fields = 'Host:a\r\nX-Spaces: \t a  b\tc \t\r\nx-empty:\r\nX-White: \t \r\nX-\u007cA~: \xe4\xff\r\n';
    const text = `M-SEARCH /a%20b?c#d HTTP/1.1\r\n${fields}\r\n`;
    const { messages, failure } = read(text);
    expect(failure).toBeNull();
    const headers = ['Host', 'a', 'X-Spaces', 'a  b\tc', 'x-empty', '', 'X-White', '', 'X-|A~', '\xe4\xff'];
    expect(messages).toEqual([
      {
        ...{ method: 'M-SEARCH', target: '/a%20b?c#d', status: 0, version: '1.1', headers, keepAlive: true },
        ...{ upgrade: false, body: '', trailers: [], end: text.length },
      },
    ]);
  });

  it('reads a head longer than what is kept whole, and one with many fields', () => {
    const fields = Array.from({ length: 100 }, (_, i) => `X-${i}: ${'v'.repeat(i)}`);
    const { messages } = read(`GET / HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`, { mostHeadBytes: 10_000 });
    expect(messages[0]?.headers).toEqual(fields.flatMap((field) => field.split(': ')));
  });

  it.each([
    ['HTTP/1.1', '', true],
    ['HTTP/1.1', 'Connection: close\r\n', false],
    ['HTTP/1.1', 'Connection: x, Close\r\n', false],
    ['HTTP/1.0', '', false],
    ['HTTP/1.0', 'Connection: keep-alive\r\n', true],
  ])('says whether %s with %j keeps the connection', (version, field, keepAlive) => {
    const request = `GET / ${version}\r\n${field}\r\n`;
    expect(read(request).messages).toMatchObject([{ keepAlive }]);
    expect(read(request + request).messages).toHaveLength(keepAlive ? 2 : 1);
    const response = `${version} 200 OK\r\n${field}Content-Length: 0\r\n\r\n`;
    expect(readResponse(response).messages).toMatchObject([{ keepAlive }]);
    expect(readResponse(response + response).failure).toBe(keepAlive ? null : 'HPE_CLOSED_CONNECTION');
  });

  it('passes over empty lines before a message', () => {
    const request = 'GET / HTTP/1.1\r\n\r\n';
    const { messages, failure } = read(`\r\n\n\r${request}\r\n\r\n${request}\r\n`);
    expect(failure).toBeNull();
    expect(messages.map(({ end }) => end)).toEqual([22, 44]);
  });
});

describe('bodies', () => {
  const get = 'GET /next HTTP/1.1\r\n\r\n';

  it.each([
    ['of a length', 'Content-Length: 5\r\n\r\n', 'hello', 'hello'],
    ['of a length with zeros and spaces', 'Content-Length:  0005  \r\n\r\n', 'hello', 'hello'],
    ['of length 0', 'Content-Length: 0\r\n\r\n', '', ''],
    ['without a length', '\r\n', '', ''],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n', '2;a="b;c"\r\nhe\r\n003\r\nllo\r\n0;x\r\n\r\n', 'hello'],
    ['in no chunk', 'Transfer-Encoding: chunked\r\n\r\n', '0\r\n\r\n', ''],
  ])('ends a request %s where its body ends', (_, fields, bytes, body) => {
    const text = `POST / HTTP/1.1\r\n${fields}${bytes}`;
    const { messages, failure } = read(text + get + text);
    expect(failure).toBeNull();
    const ends = [text.length, text.length + get.length, 2 * text.length + get.length];
    expect(messages.map(({ end }) => end)).toEqual(ends);
    expect(messages).toMatchObject([{ body }, { target: '/next', body: '' }, { body }]);
  });

  it('reads trailers', () => {
    const body = '5\r\nhello\r\n0\r\nX-Sum: a b \r\nX-Empty:\r\n\r\n';
    const { messages } = read(`POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${body}${get}`);
    expect(messages).toMatchObject([{ body: 'hello', trailers: ['X-Sum', 'a b', 'X-Empty', ''] }, { trailers: [] }]);
  });

  it('says in the head how long the body is', () => {
    const lengths: number[] = [];
    const receiver = { ...IGNORES, head: ({ length }: MessageHead) => lengths.push(length) };
    const fields = ['Content-Length: 5', 'Transfer-Encoding: chunked', 'X-A: 1', 'Content-Length: 0'];
    for (const kind of ['request', 'response'] as const) {
      for (const field of fields) {
        const parser = new MessageParser(kind, receiver, MOST_HEAD_BYTES);
        parser.read(Buffer.from(`${kind === 'request' ? 'GET / HTTP/1.1' : 'HTTP/1.1 200 OK'}\r\n${field}\r\n\r\n`));
        parser.free();
      }
    }
    expect(lengths).toEqual([5, -1, 0, 0, 5, -1, -1, 0]);
  });

  it('reads a body of 1 MB in chunks, and passes on the bytes it was given', () => {
    const bytes = Buffer.concat([
      Buffer.from('POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n'),
      ...Array.from({ length: 16 }, () => Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`)),
      Buffer.from('0\r\n\r\n'),
    ]);
    let length = 0;
    const data = (chunk: Buffer) => {
      length += chunk.length;
      expect(chunk.buffer).toBe(bytes.buffer);
    };
    const parser = new MessageParser('request', { ...IGNORES, data }, MOST_HEAD_BYTES);
    expect(parser.read(bytes)).toBe(bytes.length);
    expect(length).toBe(1 << 20);
    parser.free();
  });

  it.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 5'],
    ['two lengths that differ', 'Content-Length: 5\r\nContent-Length: 6'],
    ['a list of lengths', 'Content-Length: 5, 5'],
    ['a length that is no number', 'Content-Length: +5'],
    ['an empty length', 'Content-Length:'],
    ['a length of more than 64 bits', 'Content-Length: 18446744073709551616'],
    ['chunks behind a length', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['a length behind chunks', 'Transfer-Encoding: chunked\r\nContent-Length: 5'],
    ['chunks twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
  ])('refuses %s, without the head', (_, fields) => {
    for (const reading of [
      read(`POST / HTTP/1.1\r\n${fields}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`),
      readResponse(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`),
    ]) {
      expect(reading.messages).toEqual([]);
      expect(reading.failure).toMatch(/^HPE_(INVALID|UNEXPECTED)_/);
    }
  });

  it.each([
    '5\nhello\r\n0\r\n\r\n',
    '5\r\nhello\n0\r\n\r\n',
    '5\r\nhello0\r\n\r\n',
    '5 \r\nhello\r\n0\r\n\r\n',
    '0\n\n',
  ])('refuses chunks %j behind the data that came before', (body) => {
    const { messages, failure } = read(`POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
    expect(messages).toMatchObject([{ end: -1 }]);
    expect(failure).toMatch(/^HPE_/);
  });
});

describe('responses', () => {
  const next = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext';

  it('reads a body without a length up to the end of the connection', () => {
    const { messages, failure } = readResponse(`HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nall of it\r\n\r\n${next}`);
    expect(failure).toBeNull();
    expect(messages).toMatchObject([{ body: `all of it\r\n\r\n${next}`, keepAlive: false }]);
  });

  const bodiless = [
    '100 Continue',
    '102 Processing',
    '103 Early Hints',
    '150 Some',
    '204 No Content',
    '304 Not Modified',
  ];
  const fields = ['', 'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n'];

  it.each(bodiless)('%s has no body, whatever its fields say', (status) => {
    for (const field of fields) {
      const { messages, failure } = readResponse(`HTTP/1.1 ${status}\r\n${field}\r\n${next}`);
      expect(failure).toBeNull();
      expect(messages).toMatchObject([{ body: '', trailers: [] }, { body: 'next' }]);
    }
  });

  it('has no body if it answers HEAD', () => {
    const head = 'HTTP/1.1 200 OK\r\n';
    for (const field of fields) {
      const { messages, failure } = readResponse(`${head}${field}\r\n${head}${field}\r\n`, { answersHead: true });
      expect(failure).toBeNull();
      expect(messages).toMatchObject([{ body: '' }, { body: '' }]);
    }
  });

  it('stops behind 101, and goes on with what follows if it is told to', () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n';
    const { messages } = readResponse(`${head}${next}`);
    expect(messages).toMatchObject([{ status: 101, upgrade: true, end: head.length }, { body: 'next' }]);
  });
});

describe('requests for another protocol', () => {
  const upgrade = 'Connection: upgrade\r\nUpgrade: h2c\r\n';
  const get = 'GET /next HTTP/1.1\r\n\r\n';

  it.each([
    ['no body', '\r\n', ''],
    ['a body of a length', 'Content-Length: 5\r\n\r\n', 'hello'],
    ['a body in chunks', 'Transfer-Encoding: chunked\r\n\r\n', '5\r\nhello\r\n0\r\n\r\n'],
  ])('reads what follows as HTTP, behind %s', (_, fields, body) => {
    const text = `POST / HTTP/1.1\r\n${upgrade}${fields}${body}`;
    const { messages, failure } = read(text + get + text + get);
    expect(failure).toBeNull();
    expect(messages).toMatchObject([
      { upgrade: true, end: text.length, body: body && 'hello' },
      { target: '/next', upgrade: false },
      { upgrade: true, body: body && 'hello' },
      { target: '/next' },
    ]);
  });
});

describe('the end of the connection', () => {
  it.each([
    ['before any byte', 'request', '', null],
    ['behind empty lines', 'request', '\r\n\r\n', null],
    ['behind a message', 'request', 'GET / HTTP/1.1\r\n\r\n', null],
    ['behind an empty line behind a message', 'request', 'GET / HTTP/1.1\r\n\r\n\r\n', null],
    ['in the method', 'request', 'G', 'HPE_INVALID_EOF_STATE'],
    ['in the head', 'request', 'GET / HTTP/1.1\r\nHost: a\r\n', 'HPE_INVALID_EOF_STATE'],
    ['in the second head', 'request', 'GET / HTTP/1.1\r\n\r\nGET', 'HPE_INVALID_EOF_STATE'],
    ['in a body of a length', 'request', 'GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhell', 'HPE_INVALID_EOF_STATE'],
    ['before a body of a length', 'request', 'GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n', 'HPE_INVALID_EOF_STATE'],
    ['in a chunk', 'request', 'GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe', 'HPE_INVALID_EOF_STATE'],
    ['in trailers', 'request', 'GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX:1', 'HPE_INVALID_EOF_STATE'],
    ['in a body without a length', 'response', 'HTTP/1.1 200 OK\r\n\r\nhe', null],
    ['before a body without a length', 'response', 'HTTP/1.1 200 OK\r\n\r\n', null],
    ['behind an interim response', 'response', 'HTTP/1.1 100 Continue\r\n\r\n', null],
    ['behind 101', 'response', 'HTTP/1.1 101 X\r\n\r\n', null],
    ['in a response', 'response', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe', 'HPE_INVALID_EOF_STATE'],
  ] as const)('%s (%s)', (_, kind, text, failure) => {
    expect(read(text, { kind }).failure).toBe(failure);
  });

  it('comes behind what was received before', () => {
    expect(readResponse('HTTP/1.1 200 OK\r\n\r\nall').messages).toMatchObject([{ body: 'all', end: 22 }]);
  });

  it('tells whether a head, or a message, is under way', () => {
    const parser = new MessageParser('request', IGNORES, MOST_HEAD_BYTES);
    const states = ['\r\n', 'G', 'ET / HTTP/1.1\r\nContent-Length: 2\r\n', '\r\n', 'a', 'b'].map((piece) => {
      parser.read(Buffer.from(piece));
      return [parser.inHead, parser.inMessage];
    });
    const [waits, inHead, inBody] = [
      [false, false],
      [true, true],
      [false, true],
    ];
    expect(states).toEqual([waits, inHead, inHead, inBody, inBody, waits]);
    parser.free();
  });
});

describe('several parsers', () => {
  it('are used within each other', () => {
    const text =
      'POST /outer HTTP/1.1\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: 2\r\n\r\n';
    const bytes = Buffer.from(text);
    const inner: unknown[] = [];
    const readInner = () => inner.push(read('GET /inner HTTP/1.1\r\nHost: b\r\n\r\n').messages[0]?.target);
    const seen: unknown[] = [];
    const receiver = {
      head: ({ target, headers }: MessageHead) => seen.push(readInner(), target, headers),
      data: (chunk: Buffer) => seen.push(readInner(), chunk.toString()),
      end: (trailers: readonly string[]) => seen.push(readInner(), trailers),
    };
    for (const pieces of [[bytes], cutEverywhere(bytes)]) {
      const parser = new MessageParser('request', receiver, MOST_HEAD_BYTES);
      for (const piece of pieces) parser.read(piece);
      parser.free();
    }
    const body = ['h', 'e', 'l', 'l', 'o'];
    const headers = ['X-A', '1', 'Transfer-Encoding', 'chunked'];
    expect(seen.filter((each) => typeof each !== 'number')).toEqual([
      ...['/outer', headers, 'hello', ['X-T', '2']],
      ...['/outer', headers, ...body, ['X-T', '2']],
    ]);
    expect(new Set(inner)).toEqual(new Set(['/inner']));
  });

  it('are under way at once', () => {
    const parsers = Array.from({ length: 50 }, (_, i) => {
      const targets: string[] = [];
      const receiver = { ...IGNORES, head: ({ target }: MessageHead) => targets.push(target) };
      const bytes = Buffer.from(`GET /${i} HTTP/1.1\r\nHost: a\r\n\r\n`);
      return { targets, bytes, parser: new MessageParser('request', receiver, MOST_HEAD_BYTES) };
    });
    for (let at = 0; at < 40; at++) for (const { parser, bytes } of parsers) parser.read(bytes.subarray(at, at + 1));
    expect(parsers.map(({ targets }) => targets)).toEqual(parsers.map((_, i) => [`/${i}`]));
    for (const { parser } of parsers) parser.free();
  });

  it('that are freed leave no memory of llhttp behind', () => {
    const half = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n');
    const use = (count: number) => {
      const parsers = Array.from({ length: count }, () => new MessageParser('request', IGNORES, MOST_HEAD_BYTES));
      for (const parser of parsers) parser.read(half);
      for (const parser of parsers) parser.free();
    };
    use(1000);
    const before = llhttpMemoryBytes();
    for (let i = 0; i < 50; i++) use(1000);
    expect(llhttpMemoryBytes()).toBe(before);
  });
});
