/** Where nginx (1.22, as a proxy with its defaults) answers otherwise, and why the gateway does not do the same. */
import { AFTER } from './message.ts';

export interface Difference {
  /** Names of cases. */
  readonly cases: readonly string[];
  /** What comes from nginx. */
  readonly answers: readonly string[];
  readonly why: string;
}

const GET_PASSED = ['GET /x', AFTER];
const POST_PASSED = ['POST /x "hello"', AFTER];
const NOT_IMPLEMENTED = ['501'];
const BARE_LF = 'A bare LF may end a line (RFC 9112, 2.2), but a proxy before the gateway may see no line end in it.';
const CODINGS =
  'Both refuse it and close. 501 speaks of codings that a server lacks; a message whose end is in doubt is malformed.';
const SIZE =
  'Both refuse it; sizes past the limits are our problem documents, with the statuses that the flags document.';
const TARGET =
  'A proxy that forwards such a target leaves its meaning to the upstream; the routed path must be the path that is served.';
const STAYS = 'The message is whole and its end beyond doubt: the connection can go on.';
const UPSTREAM = 'nginx passes it on, and it is the upstream that refuses it.';
const HOST = 'RFC 9112, 3.2: an invalid Host is answered with 400.';
const FIELD_NAME = 'nginx drops the field; RFC 9110, 5.1 allows no such name, and what one drops another may read.';
const CHUNK = 'RFC 9112, 7.1 has no such form: two recipients may see two ends of the message.';
const TRAILER = 'RFC 9110, 6.5.1 forbids these in trailers; nginx drops all trailers unread.';

export const DIFFERENCES: readonly Difference[] = [
  {
    cases: [
      ...['white space around', 'identity', 'empty', 'chunked, chunked', 'chunked, identity', 'gzip, chunked'],
      ...['chunked, gzip: the end is not the last coding', 'gzip', 'xchunked', 'chunkedx', '"chunked" in quotes'],
      ...['a parameter', 'a comma before', 'a comma behind', 'vertical tab before', 'vertical tab behind'],
      ...['form feed before', 'no-break space before'],
    ].map((each) => `Transfer-Encoding: ${each}`),
    answers: NOT_IMPLEMENTED,
    why: CODINGS,
  },
  { cases: ['Content-Length and Transfer-Encoding: identity'], answers: NOT_IMPLEMENTED, why: CODINGS },
  { cases: ['Content-Length: larger than --max-body-size'], answers: ['413'], why: SIZE },
  { cases: ['chunks: larger than --max-body-size: the rest never comes'], answers: ['413'], why: SIZE },
  {
    cases: ['chunks: the most of 64 bits: the rest never comes'],
    answers: ['400'],
    why: 'The size is valid, and the body is counted as it arrives: what does not come is a time-out.',
  },
  {
    cases: ['chunks: an extension of 20,000 bytes'],
    answers: POST_PASSED,
    why: 'RFC 9112, 7.1.1: a recipient ought to limit the length of extensions.',
  },
  {
    cases: ['chunks: white space before an extension', 'chunks: white space behind the size'],
    answers: POST_PASSED,
    why: CHUNK,
  },
  { cases: ['chunks: bare LF behind the size', 'chunks: bare LF behind the data'], answers: POST_PASSED, why: CHUNK },
  { cases: ['chunks: bare LF behind the last chunk'], answers: ['POST /x', AFTER], why: CHUNK },
  {
    cases: [
      ...['Content-Length as a trailer field', 'Transfer-Encoding as a trailer field'],
      ...['a trailer field without a colon', 'a folded trailer field'],
    ].map((each) => `chunks: ${each}`),
    answers: POST_PASSED,
    why: TRAILER,
  },
  {
    cases: ['field: no colon', 'field: a letter above ASCII in the name', 'field: brackets in the name'],
    answers: GET_PASSED,
    why: FIELD_NAME,
  },
  {
    cases: [
      ...['field: bare CR at the end of the value', 'field: bare LF behind a field', 'bare LF behind every line'],
      ...['bare LF at the end of the head', 'request line: bare LF behind it'],
    ],
    answers: GET_PASSED,
    why: BARE_LF,
  },
  {
    cases: [
      ...['field: a control character in the value', 'field: DEL in the value'],
      ...['request line: a method that nobody knows', 'request line: bytes above ASCII in the target'],
    ],
    answers: ['400', 'not HTTP/1.1'],
    why: UPSTREAM,
  },
  {
    cases: ['field: larger than --max-header-size', 'more header bytes than the parser takes'],
    answers: ['400'],
    why: SIZE,
  },
  { cases: ['more than --max-headers'], answers: GET_PASSED, why: 'nginx has no limit of the count.' },
  {
    cases: ['Host: empty'],
    answers: ['400'],
    why: 'RFC 9112, 3.2: if the target has no authority, Host is sent empty.',
  },
  {
    cases: ['user information', 'a port that is not a number', 'a query', 'a broken IPv6 address'].map(
      (each) => `Host: ${each}`,
    ),
    answers: GET_PASSED,
    why: HOST,
  },
  {
    cases: ['request line: the absolute form with another host than Host'],
    answers: GET_PASSED,
    why: 'nginx goes by the target. RFC 9112, 3.2.2 has clients send the same in Host: if they differ, someone is misled.',
  },
  {
    cases: ['request line: the absolute form of another scheme'],
    answers: GET_PASSED,
    why: 'RFC 9110, 7.4: a request for a resource that we do not serve is refused.',
  },
  { cases: ['request line: TRACE'], answers: ['405'], why: STAYS },
  {
    cases: [
      ...['an incomplete escape', 'an escape that is not hexadecimal', 'an escaped NUL'],
      ...['the asterisk form without OPTIONS'],
    ].map((each) => `request line: ${each}`),
    answers: ['400'],
    why: STAYS,
  },
  {
    cases: ['request line: the asterisk form'],
    answers: ['400'],
    why: 'RFC 9112, 3.2.4 allows it for OPTIONS; it names no operation.',
  },
  {
    cases: ['request line: white space at the end'],
    answers: GET_PASSED,
    why: 'RFC 9112, 3: nothing stands between version and line end; being lenient there has been used for smuggling.',
  },
  { cases: ['request line: a fragment'], answers: ['GET /x#y', AFTER], why: TARGET },
  { cases: ['request line: a backslash'], answers: ['GET /x\\y', AFTER], why: TARGET },
  { cases: ['request line: segments that climb'], answers: ['GET /a/../x', AFTER], why: TARGET },
  { cases: ['request line: segments that climb, escaped'], answers: ['GET /a/%2e%2E/x', AFTER], why: TARGET },
  {
    cases: ['request line: longer than --max-uri-length', 'request line: longer than the parser takes'],
    answers: ['414'],
    why: SIZE,
  },
  {
    cases: ['request line: HTTP/1.2', 'request line: HTTP/1.01'],
    answers: GET_PASSED,
    why: 'RFC 9110, 2.5 would have a higher minor version served as HTTP/1.1; no such version exists, and the parser accepts none.',
  },
  {
    cases: ['request line: HTTP/2.0'],
    answers: ['505'],
    why: 'Both refuse it and close; here it is a malformed request.',
  },
  {
    cases: ['request line: another protocol: the parser takes it for HTTP/1.0'],
    answers: ['400'],
    why: 'Node.js does not say which protocol was named. The request is served as HTTP/1.0 and its connection closed.',
  },
  {
    cases: ['HTTP/0.9'],
    answers: ['not HTTP/1.1'],
    why: 'nginx still serves HTTP/0.9, which RFC 9112 no longer knows.',
  },
  { cases: ['the preface of HTTP/2 cut short'], answers: ['400'], why: 'It was taken for HTTP/2, and refused there.' },
  {
    cases: ['Connection: closed'],
    answers: ['GET /x'],
    why: 'RFC 9110, 7.6.1: Connection lists names, and this is another name than close; nginx looks for close anywhere in it.',
  },
  {
    cases: ['Connection: close, and keep-alive in another field'],
    answers: GET_PASSED,
    why: 'RFC 9112, 9.3: close anywhere ends the connection; nginx goes by the last field.',
  },
  {
    cases: ['Proxy-Connection: close'],
    answers: GET_PASSED,
    why: 'The parser takes it for Connection; closing is safe, since nothing behind it is served.',
  },
  {
    cases: ['HTTP/1.0 with Connection: keep-alivex'],
    answers: GET_PASSED,
    why: 'RFC 9110, 7.6.1: this is another name than keep-alive; nginx looks for it anywhere in the field.',
  },
  {
    cases: ['HTTP/1.0 with Proxy-Connection: keep-alive'],
    answers: ['GET /x'],
    why: 'The parser takes it for Connection. The end of the request is beyond doubt, and the answer says that the connection goes on.',
  },
  {
    cases: ['Expect twice'],
    answers: ['400'],
    why: 'RFC 9110, 10.1.1: Expect is a list, which may stand in several fields (5.3).',
  },
  { cases: ['a request that is cut short'], answers: [], why: 'nginx closes without an answer.' },
];
