/** The request line: method, target, version (RFC 9112, sections 2.3 and 3). */
import { AFTER, type Case, head, line } from './message.ts';

const PASSED = ['GET /x', AFTER];
const REFUSED = ['400'];
/** What is asked for is refused, but the message is whole: the connection goes on. */
const REFUSED_PATH = ['400', AFTER];

function request(name: string, requestLine: string, answers: readonly string[] = REFUSED, rfc = '9112 3'): Case {
  return { name: `request line: ${name}`, rfc, bytes: line(requestLine), answers };
}

export const REQUEST_LINE: readonly Case[] = [
  request('a method in lower case', 'get /x HTTP/1.1', REFUSED, '9110 9.1'),
  request('a method that nobody knows', 'BREW /x HTTP/1.1', REFUSED, '9110 9.1'),
  request('a method with a separator', 'GE(T /x HTTP/1.1', REFUSED, '9110 9.1'),
  request('TRACE', 'TRACE /x HTTP/1.1', ['405', AFTER], '9110 9.3.8'),
  request('two spaces before the target', 'GET  /x HTTP/1.1', PASSED),
  request('two spaces before the version', 'GET /x  HTTP/1.1', PASSED),
  request('a tab instead of a space', 'GET\t/x\tHTTP/1.1'),
  request('white space at the end', 'GET /x HTTP/1.1 '),
  request('a space in the target', 'GET /x /y HTTP/1.1'),
  request('bare CR in the target', 'GET /x\r/y HTTP/1.1', REFUSED, '9112 2.2'),
  request('bare LF behind it', 'GET /x HTTP/1.1\nX-A: 1', REFUSED, '9112 2.2'),
  request('NUL in the target', 'GET /x\0 HTTP/1.1', REFUSED, '9112 3.2'),
  request('bytes above ASCII in the target', 'GET /x\xc3\xa4 HTTP/1.1', REFUSED, '9112 3.2'),
  request('a fragment', 'GET /x#y HTTP/1.1', REFUSED_PATH, '9112 3.2'),
  request('a backslash', 'GET /x\\y HTTP/1.1', REFUSED_PATH, '3986 3.3'),
  request('quotation mark and angle brackets', 'GET /x"<> HTTP/1.1', ['GET /x"<>', AFTER], '3986 3.3'),
  request('an incomplete escape', 'GET /x%2 HTTP/1.1', REFUSED_PATH, '3986 2.1'),
  request('an escape that is not hexadecimal', 'GET /x%zz HTTP/1.1', REFUSED_PATH, '3986 2.1'),
  request('an escaped NUL', 'GET /x%00 HTTP/1.1', REFUSED_PATH, '3986 7.3'),
  request('segments that climb', 'GET /a/../x HTTP/1.1', REFUSED_PATH, '3986 5.2.4'),
  request('segments that climb, escaped', 'GET /a/%2e%2E/x HTTP/1.1', REFUSED_PATH, '3986 5.2.4'),
  request('a target of several slashes', 'GET //x HTTP/1.1', ['GET //x', AFTER], '9112 3.2.1'),
  request('the absolute form', 'GET http://a/x HTTP/1.1', PASSED, '9112 3.2.2'),
  request('the absolute form without a path', 'GET http://a HTTP/1.1', ['GET /', AFTER], '9112 3.2.2'),
  request('the absolute form with another host than Host', 'GET http://b/x HTTP/1.1', REFUSED, '9112 3.2.2'),
  request('the absolute form of another scheme', 'GET ftp://a/x HTTP/1.1', REFUSED, '9112 3.2.2'),
  request('the absolute form with user information', 'GET http://me@a/x HTTP/1.1', REFUSED, '9110 4.2.4'),
  request('the authority form without CONNECT', 'GET a:80 HTTP/1.1', REFUSED, '9112 3.2.3'),
  request('CONNECT', 'CONNECT a:80 HTTP/1.1', REFUSED, '9110 9.3.6'),
  request('the asterisk form', 'OPTIONS * HTTP/1.1', ['404', AFTER], '9112 3.2.4'),
  request('the asterisk form without OPTIONS', 'GET * HTTP/1.1', REFUSED_PATH, '9112 3.2.4'),
  request('a target that is no path', 'GET x HTTP/1.1', REFUSED, '9112 3.2'),
  request('longer than --max-uri-length', `GET /${'x'.repeat(9000)} HTTP/1.1`, ['400', AFTER], '9112 3'),
  request('longer than the parser takes', `GET /${'x'.repeat(3_000_000)} HTTP/1.1`, ['400'], '9112 3'),
  request('HTTP/1.0', 'GET /x HTTP/1.0', ['GET /x'], '9112 2.3'),
  request('HTTP/1.2', 'GET /x HTTP/1.2', REFUSED, '9112 2.3'),
  request('HTTP/1.01', 'GET /x HTTP/1.01', REFUSED, '9112 2.3'),
  request('HTTP/1', 'GET /x HTTP/1', REFUSED, '9112 2.3'),
  request('HTTP/0.9 with a version', 'GET /x HTTP/0.9', REFUSED, '9112 2.3'),
  request('HTTP/2.0', 'GET /x HTTP/2.0', REFUSED, '9112 2.3'),
  request('the name in lower case', 'GET /x http/1.1', REFUSED, '9112 2.3'),
  request('another protocol: the parser takes it for HTTP/1.0', 'GET /x RTSP/1.0', ['GET /x'], '9112 2.3'),
  { name: 'HTTP/0.9', rfc: '9112 2.3', bytes: 'GET /x\r\n', answers: REFUSED },
  { name: 'HTTP/1.0 without Host', rfc: '9112 3.2', bytes: head('GET /x HTTP/1.0', ['X-A: 1']), answers: ['GET /x'] },
  {
    name: 'the preface of HTTP/2 cut short',
    rfc: '9113 3.4',
    bytes: 'PRI * HTTP/1.1\r\nHost: a\r\n\r\n',
    answers: ['not HTTP/1.1'],
  },
];
