/** Header fields and line ends (RFC 9112, sections 2.2, 3.2 and 5; RFC 9110, section 5). */
import { AFTER, type Case, get, head } from './message.ts';

const PASSED = ['GET /x', AFTER];
const REFUSED = ['400'];

function field(name: string, rfc: string, text: string, answers: readonly string[] = REFUSED): Case {
  return { name: `field: ${name}`, rfc, bytes: get(text), answers };
}

function host(name: string, fields: readonly string[], answers: readonly string[] = REFUSED): Case {
  return { name: `Host: ${name}`, rfc: '9112 3.2', bytes: head('GET /x HTTP/1.1', fields), answers };
}

export const FIELDS: readonly Case[] = [
  field('white space before the colon', '9112 5.1', 'X-A : 1'),
  field('tab before the colon', '9112 5.1', 'X-A\t: 1'),
  field('no colon', '9112 5', 'X-A'),
  field('empty name', '9112 5', ': 1'),
  field('a space in the name', '9110 5.1', 'X A: 1'),
  field('a control character in the name', '9110 5.1', 'X\x01A: 1'),
  field('a letter above ASCII in the name', '9110 5.1', 'X-\xe4: 1'),
  field('brackets in the name', '9110 5.1', 'X[A]: 1'),
  field('folded', '9112 5.2', 'X-A: 1\r\n 2'),
  field('folded with a tab', '9112 5.2', 'X-A: 1\r\n\t2'),
  field('folded before the first field', '9112 2.2', ' X-A: 1'),
  field('NUL in the value', '9110 5.5', 'X-A: 1\x002'),
  field('bare CR in the value', '9110 5.5', 'X-A: 1\r2'),
  field('bare CR at the end of the value', '9112 2.2', 'X-A: 1\r'),
  field('bare LF behind a field', '9112 2.2', 'X-A: 1\nX-B: 2'),
  field('a control character in the value', '9110 5.5', 'X-A: 1\x012'),
  field('DEL in the value', '9110 5.5', 'X-A: 1\x7f2'),
  field('bytes above ASCII in the value are opaque', '9110 5.5', 'X-A: \xc3\xa4', PASSED),
  field('empty value', '9110 5.5', 'X-A:', PASSED),
  field('larger than --max-header-size', '6585 5', `X-A: ${'a'.repeat(9000)}`, ['431', AFTER]),
  {
    name: 'more than --max-headers',
    rfc: '6585 5',
    bytes: get(...Array.from({ length: 120 }, (_, i) => `X-${i}: 1`)),
    answers: ['400', AFTER],
  },
  {
    name: 'more header bytes than the parser takes',
    rfc: '6585 5',
    bytes: get(...Array.from({ length: 700 }, (_, i) => `X-${i}: ${'a'.repeat(4000)}`)),
    answers: ['431'],
  },
  { name: 'bare LF behind every line', rfc: '9112 2.2', bytes: 'GET /x HTTP/1.1\nHost: a\n\n', answers: REFUSED },
  {
    name: 'bare LF at the end of the head',
    rfc: '9112 2.2',
    bytes: 'GET /x HTTP/1.1\r\nHost: a\r\n\n',
    answers: REFUSED,
  },
  { name: 'CRLF before the request', rfc: '9112 2.2', bytes: `\r\n${get()}`, answers: PASSED },
  { name: 'bare LF before the request', rfc: '9112 2.2', bytes: `\n${get()}`, answers: PASSED },
  { name: 'white space before the request', rfc: '9112 2.2', bytes: ` ${get()}`, answers: REFUSED },
  { name: 'NUL before the request', rfc: '9112 3', bytes: `\0${get()}`, answers: REFUSED },
  host('missing', ['X-A: 1']),
  host('missing in HTTP/1.1 with an absolute target', ['X-A: 1']),
  host('twice, equal', ['Host: a', 'Host: a']),
  host('twice, different', ['Host: a', 'Host: b']),
  host('empty', ['Host:'], PASSED),
  host('with a port', ['Host: a:8080'], PASSED),
  host('IPv6', ['Host: [::1]:80'], PASSED),
  host('a list', ['Host: a, b']),
  host('white space inside', ['Host: a b']),
  host('a path', ['Host: a/b']),
  host('user information', ['Host: a@b']),
  host('a port that is not a number', ['Host: a:b']),
  host('a query', ['Host: a?b']),
  host('a broken IPv6 address', ['Host: [::1']),
];
