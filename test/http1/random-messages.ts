/**
 * Bytes of connections, in Latin-1: mostly messages that are right or nearly so, one after another, and then changes of
 * a few bytes. What decides where a message ends comes often.
 */
import type { SeededRandom } from './random.ts';
import type { Kind } from './reading.ts';

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH'];
const RARE_METHODS = [
  ...['CONNECT', 'TRACE', 'M-SEARCH', 'QUERY', 'PRI', 'SOURCE', 'DESCRIBE', 'PLAY', 'SET_PARAMETER', 'LOCK', 'PURGE'],
  ...['get', 'GE', 'GETX', 'G(T', '', 'BREW', 'get_parameter', 'MKCALENDAR', 'UNSUBSCRIBE', 'P\xc3'],
];
const TARGETS = ['/', '/x', '/x?a=1&b=2', '/a/b/c', 'http://a/x', 'http://a', '*', '/x%2f..'];
const RARE_TARGETS = [
  ...['a:80', 'x', '//x', '/x#y', '/x\\y', '/x"<>{}', '/\xc3\xa4', '/x y', '/x\0', '/x\ty', '/x\ry', 'http://me@a/x'],
  ...['http://me@@a/x', 'http://', 'http:/x', 'ftp://a', 'http://[::1]:8/', '?a', '#', '/?#', '/x?y?z#?', 'h1://a', ''],
  ...['http://a?b', 'http://a#b', 'http://a:b', '/\x7f', '/?\x01', '/#\xff', '-', 'x-y://z'],
];
const RARE_VERSIONS = [
  ...['HTTP/1.0', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.01', 'HTTP/11.1', 'HTTP/1,1', 'http/1.1'],
  ...['HTTP/1', 'HTTP/1.', 'HTTP/', 'RTSP/1.0', 'ICE/1.0', 'RTSP/1.1', 'HTTP /1.1', 'HTTP/1.1 ', 'HTTPS/1.1', ''],
];
const FIELDS = [
  ...['Host: a', 'Accept: */*', 'X-A: 1', 'X-B:2', 'X-C:', 'X-D:   ', 'X-E: a  b \t', 'User-Agent: x/1 (y; z)'],
  ...['Cookie: a=b; c=d', 'Expect: 100-continue', 'Trailer: X-Sum', 'Date: Sun, 06 Nov 1994 08:49:37 GMT'],
];
const RARE_FIELDS = [
  ...['Connection: close', 'Connection: keep-alive', 'Connection: upgrade', 'Connection: Upgrade, close'],
  ...['Connection: close, keep-alive', 'Connection: closed', 'Connection: x, upgrade', 'Connection:', 'Connection: ,'],
  ...['Connection: keep-alivex', 'Connection: close ', 'Connection:\tclose', 'Connection: close\x0b'],
  ...['Proxy-Connection: close', 'Proxy-Connection: keep-alive', 'Upgrade: websocket', 'Upgrade: h2c', 'Upgrade:'],
  ...['X A: 1', 'X-A : 1', 'X-A\t: 1', ': 1', 'X-A', '', ' X-A: 1', 'X-A: 1\r\n 2', 'X-A: 1\r\n\t2', 'X-A:\r\n 1'],
  ...['X-\xe4: 1', 'X-A: \xc3\xa4', 'X[A]: 1', 'X-A: 1\x002', 'X-A: 1\x012', 'X-A: 1\x7f2', 'X-A: 1\r2', 'X-A: 1\n2'],
  ...['X-A: 1\r', 'X-A: \x0b', 'X\x01: 1', '(: 1', 'X"Y: 1', 'X-A: \xff\x80', 'Content_Length: 5', 'Content-Lengt: 5'],
  ...['Content-Lengthx: 5', 'Transfer-Encodin: chunked', 'Transfer-Encodings: chunked', 'Upgrad: x', 'Upgraded: x'],
];
const CODINGS = [
  ...['chunked', 'CHUNKED', 'Chunked', ' chunked ', 'chunked\t', 'identity', '', 'gzip, chunked', 'chunked, gzip'],
  ...[
    'chunked, chunked',
    'gzip',
    'xchunked',
    'chunkedx',
    '"chunked"',
    'chunked;q=1',
    ',chunked',
    'chunked,',
    'chunked ,',
  ],
  ...[
    '\x0bchunked',
    'chunked\x0b',
    '\x0cchunked',
    '\xa0chunked',
    'chunked\0',
    'chunked\r\n',
    'chun ked',
    'gzip,chunked',
  ],
  ...[
    'chunked,,',
    'chunkedchunked',
    'chunked chunked',
    'gzip\r\nTransfer-Encoding: chunked',
    'c\r\n hunked',
    'chunked\n',
  ],
];
const LENGTHS = [
  ...[
    '0',
    '5',
    '05',
    ' 5 ',
    '\t5\t',
    '+5',
    '-5',
    '0x5',
    '5.0',
    '5e0',
    '',
    ' ',
    'five',
    '5 5',
    '5, 5',
    '5,5',
    '5;',
    '5\x0b',
  ],
  ...[
    '18446744073709551615',
    '18446744073709551616',
    '18446744073709551621',
    '99999999999999999999999',
    '9007199254740993',
  ],
  ...['5\r\nContent-Length: 5', '5\r\nContent-Length: 6', '\r\n 5', '5\n', '\xb25', '00000000000000000000000000000005'],
];
const SIZES = [
  ...[
    '+5',
    '-5',
    '0x5',
    '',
    ' 5',
    '5 ',
    'g',
    '5g',
    '10000000000000005',
    'ffffffffffffffff',
    '00000000000000000005',
    '5\t',
  ],
];
const EXTENSIONS = [
  ...[
    ';a',
    ';a=1',
    ';a="x"',
    ';a="x y;z"',
    ';a;b=2',
    ';',
    ';;',
    ';=',
    ';a=',
    ';a="',
    ';a="\\""',
    ';a="\\',
    ' ;a',
    '; a=1',
  ],
  ...[
    ';a =1',
    ';a= 1',
    ';a=1 ',
    ';a\n',
    ';a\r',
    ';a=\x01',
    ';\xe4',
    ';a="\xe4"',
    ';a="x"y',
    ';a="x";b',
    ';a=(',
    ';a="\r\n"',
  ],
  ...[';a="\x01"', ';a="\\\x01"', ';a=1;;b', ';a==1', ' ', '\t', ';a\tb', ';"a"'],
];
const TRAILERS = [
  ...['X-Sum: 1', 'X-Sum:', 'X-Sum: a b ', 'Content-Length: 5', 'Transfer-Encoding: chunked', 'Connection: close'],
  ...['Host: b', 'nonsense', 'X-A: 1\r\n 2', 'X-A: 1\n', ' X: 1', 'Upgrade: h2c', 'X A: 1', 'Content-Length:', ': 1'],
];
const STATUSES = ['200 OK', '200', '200 ', '201 Created', '404 Not Found', '500 Internal Server Error', '302 Found'];
const RARE_STATUSES = [
  ...[
    '100 Continue',
    '101 Switching Protocols',
    '102 Processing',
    '103 Early Hints',
    '150 Interim',
    '199',
    '204 No Content',
  ],
  ...[
    '304 Not Modified',
    '205 Reset Content',
    '000',
    '099 Low',
    '999 High',
    '1000',
    '20',
    '2',
    '',
    '20x',
    '-20',
    '+200',
  ],
  ...[
    '200\tOK',
    '200  OK',
    '200OK',
    '200 \xc3\xa4',
    '200 O\0K',
    '200 O\x01K',
    '200 O\rK',
    '200 O\nK',
    '200\r',
    '2 00',
    ' 200',
  ],
];
const LINE_ENDS = ['\n', '\r', '\r\r\n', '\n\r', '', '\r\n\r\n', ' \r\n', '\r\n '];
/** Bytes that a parser treats in their own way somewhere. */
const NOTABLE = '\r\n\t \0:;,=/?#@"\\()-_.+*%019aAfFgGzZ\x01\x0b\x0c\x7f\x80\xa0\xc3\xff';

/** `always`: a field that each message has once; by default no field comes always. */
export function randomConnection(random: SeededRandom, kind: Kind, always: string | null = null): string {
  let text = random.once(12) ? random.pick(['\r\n', '\n', '\r', '\r\n\r\n', ' ', '\0', '\n\n']) : '';
  const count = random.once(3) ? 1 + random.below(4) : 1;
  for (let i = 0; i < count; i++) text += randomMessage(random, kind, always);
  if (random.once(10)) text += random.pick(['\r\n', 'x', ' ', '\0', 'GET', 'HTTP/1.1 ', '\r', '0\r\n\r\n']);
  if (random.once(2)) return text;
  for (let i = 1 + random.below(3); i > 0; i--) text = changed(random, text);
  return text;
}

function randomMessage(random: SeededRandom, kind: Kind, always: string | null): string {
  const lines = [kind === 'request' ? requestLine(random) : statusLine(random)];
  if (always !== null) lines.push(always);
  const fields = random.below(random.once(20) ? 60 : 5);
  for (let i = 0; i < fields; i++) lines.push(random.once(6) ? random.pick(RARE_FIELDS) : random.pick(FIELDS));
  if (random.once(150)) lines.push(`X-Long: ${'v'.repeat(random.below(20_000))}`);
  const body = randomBody(random, kind, always);
  for (const field of body.fields) lines.splice(1 + random.below(lines.length), 0, field);
  lines.push('');
  let head = '';
  const first = always === null ? -1 : lines.indexOf(always);
  for (const [i, line] of lines.entries()) if (line !== always || i === first) head += line + lineEnd(random);
  return head + body.text;
}

function requestLine(random: SeededRandom): string {
  const method = random.once(12) ? random.pick(RARE_METHODS) : random.pick(METHODS);
  const target = random.once(8) ? random.pick(RARE_TARGETS) : random.pick(TARGETS);
  const version = random.once(10) ? random.pick(RARE_VERSIONS) : 'HTTP/1.1';
  const gap = () => (random.once(60) ? random.pick(['  ', '\t', '', ' \t', '\r\n', '\x0b']) : ' ');
  return method + gap() + target + gap() + version;
}

function statusLine(random: SeededRandom): string {
  const status = random.once(4) ? random.pick(RARE_STATUSES) : random.pick(STATUSES);
  const version = random.once(12) ? random.pick(RARE_VERSIONS) : 'HTTP/1.1';
  return version + (random.once(60) ? random.pick(['  ', '\t', '', '\r\n']) : ' ') + status;
}

function lineEnd(random: SeededRandom): string {
  return random.once(80) ? random.pick(LINE_ENDS) : '\r\n';
}

interface Body {
  readonly fields: readonly string[];
  readonly text: string;
}

function randomBody(random: SeededRandom, kind: Kind, always: string | null): Body {
  const content = randomContent(random, always);
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
      return { fields: [], text: kind === 'response' || random.once(8) ? content : '' };
    case 3:
    case 4:
    case 5:
      return { fields: [`Content-Length: ${content.length}`], text: content };
    case 6:
    case 7:
      return {
        fields: [`Transfer-Encoding: ${random.once(4) ? 'Chunked' : 'chunked'}`],
        text: chunked(random, content),
      };
    case 8:
      return random.once(2)
        ? { fields: [`Content-Length: ${random.pick(LENGTHS)}`], text: content }
        : { fields: [`Transfer-Encoding: ${random.pick(CODINGS)}`], text: chunked(random, content) };
    default:
      return conflictingBody(random, content);
  }
}

/** Two fields that say where the body ends. */
function conflictingBody(random: SeededRandom, content: string): Body {
  const text = random.once(2) ? content : chunked(random, content);
  const field = () =>
    random.once(2)
      ? `Content-Length: ${random.once(2) ? text.length : random.pick(LENGTHS)}`
      : `Transfer-Encoding: ${random.once(2) ? 'chunked' : random.pick(CODINGS)}`;
  return { fields: [field(), field()], text };
}

function randomContent(random: SeededRandom, always: string | null): string {
  const field = always === null ? '' : `${always}\r\n`;
  if (random.once(5))
    return random.pick(['', `GET /smuggled HTTP/1.1\r\n${field}\r\n`, 'HTTP/1.1 200 OK\r\n\r\n', '\r\n', '0\r\n\r\n']);
  return 'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(random.once(30) ? 60 : 1).slice(0, 1 + random.below(36));
}

function chunked(random: SeededRandom, content: string): string {
  let text = '';
  for (let at = 0; at < content.length; ) {
    const length = Math.min(1 + random.below(20), content.length - at);
    text += chunkHead(random, length) + content.slice(at, at + length) + lineEnd(random);
    at += length;
  }
  text += chunkHead(random, 0);
  while (random.once(6)) text += (random.once(2) ? 'X-Sum: 1' : random.pick(TRAILERS)) + lineEnd(random);
  return text + lineEnd(random);
}

function chunkHead(random: SeededRandom, length: number): string {
  const size = random.once(40) ? random.pick(SIZES) : length.toString(16);
  const extension = random.once(12) ? random.pick(EXTENSIONS) : '';
  const filler = random.once(600) ? `;${'e'.repeat(random.below(40_000))}` : '';
  return (random.once(20) ? '000' : '') + size + extension + filler + lineEnd(random);
}

/** The text with a few bytes more, less, or others. */
function changed(random: SeededRandom, text: string): string {
  const at = random.below(text.length + 1);
  const notable = () => NOTABLE[random.below(NOTABLE.length)] as string;
  switch (random.below(8)) {
    case 0:
    case 1:
      return text.slice(0, at) + notable() + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + notable() + text.slice(at);
    case 3:
      return text.slice(0, at) + text.slice(at + 1 + random.below(3));
    case 4:
      return text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
    case 5: {
      const piece = text.slice(at, at + random.below(30));
      const to = random.below(text.length + 1);
      return text.slice(0, to) + piece + text.slice(to);
    }
    case 6:
      return text.slice(0, at);
    default: {
      // Another case of letters, or another control character.
      const code = text.charCodeAt(at) ^ 0x20;
      return Number.isNaN(code) ? text : text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
    }
  }
}
