/** Where a message ends: Content-Length and Transfer-Encoding (RFC 9112, section 6; RFC 9110, section 8.6). */
import { AFTER, type Case, get, head, post } from './message.ts';

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const CHUNKED_HELLO = '5\r\nhello\r\n0\r\n\r\n';

function length(name: string, value: string, answers: readonly string[]): Case {
  return {
    name: `Content-Length: ${name}`,
    rfc: '9110 8.6',
    bytes: post([`Content-Length: ${value}`], 'hello'),
    answers,
  };
}

function coding(name: string, value: string, answers: readonly string[] = ['400']): Case {
  return {
    name: `Transfer-Encoding: ${name}`,
    rfc: '9112 6.1',
    bytes: post([`Transfer-Encoding: ${value}`], CHUNKED_HELLO),
    answers,
  };
}

export const FRAMING: readonly Case[] = [
  length('5', '5', ['POST /x "hello"', AFTER]),
  length('leading zeros', '0005', ['POST /x "hello"', AFTER]),
  length('white space around', ' \t5 \t', ['400']),
  length('+5', '+5', ['400']),
  length('-5', '-5', ['400']),
  length('0x5', '0x5', ['400']),
  length('5.0', '5.0', ['400']),
  length('5e0', '5e0', ['400']),
  length('empty', '', ['400']),
  length('letters', 'five', ['400']),
  length('digits with a space between', '5 5', ['400']),
  length('a list of equal values', '5, 5', ['400']),
  length('a list of different values', '5, 6', ['400']),
  length('more than 64 bits', '99999999999999999999999', ['400']),
  length('wraps round to 5 in 64 bits', '18446744073709551621', ['400']),
  length('larger than --max-body-size', '1000000000', ['400']),
  {
    name: 'Content-Length twice, equal',
    rfc: '9112 6.3',
    bytes: post(['Content-Length: 5', 'Content-Length: 5'], 'hello'),
    answers: ['400'],
  },
  {
    name: 'Content-Length twice, different',
    rfc: '9112 6.3',
    bytes: post(['Content-Length: 5', `Content-Length: ${5 + SMUGGLED.length}`], `hello${SMUGGLED}`),
    answers: ['400'],
  },
  {
    name: 'Content-Length: 0 with a request behind it',
    rfc: '9112 6.3',
    bytes: post(['Content-Length: 0'], ''),
    answers: ['POST /x', AFTER],
  },
  {
    name: 'GET with a body of a known length: it is no second request',
    rfc: '9112 6.3',
    bytes: get(`Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    answers: [`GET /x ${JSON.stringify(SMUGGLED)}`, AFTER],
  },
  {
    name: 'body without a length: the bytes are the next request, and not a valid one',
    rfc: '9112 6.3',
    bytes: post([], 'hello\r\n\r\n'),
    answers: ['POST /x', '400'],
  },
  coding('chunked', 'chunked', ['POST /x "hello"', AFTER]),
  coding('CHUNKED', 'CHUNKED', ['POST /x "hello"', AFTER]),
  coding('white space around', ' \tchunked \t'),
  coding('identity', 'identity'),
  coding('empty', ''),
  coding('chunked, chunked', 'chunked, chunked'),
  coding('chunked, identity', 'chunked, identity'),
  coding('gzip, chunked', 'gzip, chunked'),
  coding('chunked, gzip: the end is not the last coding', 'chunked, gzip'),
  coding('gzip', 'gzip'),
  coding('xchunked', 'xchunked'),
  coding('chunkedx', 'chunkedx'),
  coding('"chunked" in quotes', '"chunked"'),
  coding('a parameter', 'chunked;q=1'),
  coding('a comma before', ', chunked'),
  coding('a comma behind', 'chunked,'),
  coding('vertical tab before', '\x0bchunked'),
  coding('vertical tab behind', 'chunked\x0b'),
  coding('form feed before', '\x0cchunked'),
  coding('no-break space before', '\xa0chunked'),
  coding('NUL behind', 'chunked\0'),
  {
    name: 'Transfer-Encoding twice: chunked and chunked',
    rfc: '9112 6.1',
    bytes: post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], CHUNKED_HELLO),
    answers: ['400'],
  },
  {
    name: 'Transfer-Encoding twice: chunked and identity',
    rfc: '9112 6.1',
    bytes: post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], CHUNKED_HELLO),
    answers: ['400'],
  },
  {
    name: 'Transfer-Encoding twice: identity and chunked',
    rfc: '9112 6.1',
    bytes: post(['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'], CHUNKED_HELLO),
    answers: ['400'],
  },
  {
    name: 'Transfer-Encoding and Content-Length (TE.CL)',
    rfc: '9112 6.1',
    bytes: post(
      ['Transfer-Encoding: chunked', 'Content-Length: 4'],
      `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
    ),
    answers: ['400'],
  },
  {
    name: 'Content-Length and Transfer-Encoding (CL.TE)',
    rfc: '9112 6.1',
    bytes: post([`Content-Length: ${5 + SMUGGLED.length}`, 'Transfer-Encoding: chunked'], `0\r\n\r\n${SMUGGLED}`),
    answers: ['400'],
  },
  {
    name: 'Content-Length and Transfer-Encoding: identity',
    rfc: '9112 6.1',
    bytes: post(['Content-Length: 5', 'Transfer-Encoding: identity'], 'hello'),
    answers: ['400'],
  },
  {
    name: 'Transfer-Encoding in HTTP/1.0',
    rfc: '9112 6.1',
    bytes:
      head('POST /x HTTP/1.0', ['Host: a', 'Connection: keep-alive', 'Transfer-Encoding: chunked']) + CHUNKED_HELLO,
    answers: ['400'],
  },
  {
    name: 'Transfer_Encoding with an underscore is another field, and not passed on',
    rfc: '9110 5.1',
    bytes: post(['Content-Length: 5', 'Transfer_Encoding: chunked'], 'hello'),
    answers: ['POST /x "hello"', AFTER],
  },
  {
    name: 'Transfer-Encoding with a space before the colon',
    rfc: '9112 5.1',
    bytes: post(['Content-Length: 5', 'Transfer-Encoding : chunked'], 'hello'),
    answers: ['400'],
  },
  {
    name: 'Transfer-Encoding behind a folded line',
    rfc: '9112 5.2',
    bytes: post(['Content-Length: 5', 'X-Note: a\r\n Transfer-Encoding: chunked'], 'hello'),
    answers: ['400'],
  },
  {
    name: 'Transfer-Encoding behind a bare LF',
    rfc: '9112 2.2',
    bytes: post(['Content-Length: 5', 'X-Note: a\nTransfer-Encoding: chunked'], 'hello'),
    answers: ['400'],
  },
  {
    name: 'Transfer-Encoding behind a bare CR',
    rfc: '9112 2.2',
    bytes: post(['Content-Length: 5', 'X-Note: a\rTransfer-Encoding: chunked'], 'hello'),
    answers: ['400'],
  },
];
