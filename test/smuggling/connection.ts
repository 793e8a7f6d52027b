/** What happens on the connection around a request (RFC 9112, section 9; RFC 9110, sections 7.6, 7.8 and 10.1). */
import { AFTER, type Case, get, head, post } from './message.ts';

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const MALFORMED = 'GET /y HTTP/1.1\r\nHost: a\r\nX A: 1\r\n\r\n';

export const CONNECTION: readonly Case[] = [
  {
    name: 'two requests at once, the second with a body',
    rfc: '9112 9.3.2',
    bytes: get() + post(['Content-Length: 5'], 'hello'),
    answers: ['GET /x', 'POST /x "hello"', AFTER],
  },
  {
    name: 'a malformed request behind a good one',
    rfc: '9112 9.3.2',
    bytes: get() + MALFORMED,
    answers: ['GET /x', '400'],
  },
  {
    name: 'nothing behind a malformed request is served',
    rfc: '9112 2.2',
    bytes: MALFORMED + SMUGGLED,
    answers: ['400'],
  },
  {
    name: 'nothing behind Connection: close is served',
    rfc: '9112 9.6',
    bytes: get('Connection: close') + SMUGGLED,
    answers: ['GET /x'],
  },
  {
    name: 'nothing behind HTTP/1.0 without keep-alive is served',
    rfc: '9112 9.3',
    bytes: head('GET /x HTTP/1.0', ['Host: a']) + SMUGGLED,
    answers: ['GET /x'],
  },
  {
    name: 'HTTP/1.0 with keep-alive goes on',
    rfc: '9112 9.3',
    bytes: head('GET /x HTTP/1.0', ['Host: a', 'Connection: keep-alive']),
    answers: ['GET /x', AFTER],
  },
  {
    name: 'the body of a refused request is no request',
    rfc: '9112 9.3',
    bytes: `POST /x HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    answers: ['400'],
  },
  {
    name: 'Connection: closed',
    rfc: '9110 7.6.1',
    bytes: get('Connection: closed'),
    answers: ['GET /x', AFTER],
  },
  {
    name: 'Connection: close, and keep-alive in another field',
    rfc: '9112 9.3',
    bytes: get('Connection: close', 'Connection: keep-alive'),
    answers: ['GET /x'],
  },
  {
    name: 'HTTP/1.0 with Connection: close, keep-alive',
    rfc: '9112 9.3',
    bytes: head('GET /x HTTP/1.0', ['Host: a', 'Connection: close, keep-alive']),
    answers: ['GET /x'],
  },
  {
    name: 'Proxy-Connection: close',
    rfc: '9112 C.2.2',
    bytes: get('Proxy-Connection: close'),
    answers: ['GET /x'],
  },
  {
    name: 'HTTP/1.0 with Connection: keep-alivex',
    rfc: '9110 7.6.1',
    bytes: head('GET /x HTTP/1.0', ['Host: a', 'Connection: keep-alivex']),
    answers: ['GET /x'],
  },
  {
    name: 'HTTP/1.0 with Proxy-Connection: keep-alive',
    rfc: '9112 C.2.2',
    bytes: head('GET /x HTTP/1.0', ['Host: a', 'Proxy-Connection: keep-alive']),
    answers: ['GET /x', AFTER],
  },
  {
    name: 'Upgrade: h2c is ignored',
    rfc: '9113 3.1',
    bytes: get('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
    answers: ['GET /x', AFTER],
  },
  {
    name: 'Upgrade: websocket is ignored if nothing speaks it',
    rfc: '9110 7.8',
    bytes: get(
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ),
    answers: ['GET /x', AFTER],
  },
  {
    name: 'Upgrade with a body: the body is no request',
    rfc: '9110 7.8',
    bytes: post(['Connection: Upgrade', 'Upgrade: h2c', `Content-Length: ${SMUGGLED.length}`], SMUGGLED),
    answers: [`POST /x ${JSON.stringify(SMUGGLED)}`, AFTER],
  },
  {
    name: 'Expect: 100-continue with the body sent at once',
    rfc: '9110 10.1.1',
    bytes: post(['Expect: 100-continue', 'Content-Length: 5'], 'hello'),
    answers: ['POST /x "hello"', AFTER],
  },
  {
    name: 'Expect: 100-continue without a body',
    rfc: '9110 10.1.1',
    bytes: get('Expect: 100-continue'),
    answers: ['GET /x', AFTER],
  },
  {
    name: 'Expect twice',
    rfc: '9110 10.1.1',
    bytes: post(['Expect: 100-continue', 'Expect: 100-continue', 'Content-Length: 5'], 'hello'),
    answers: ['POST /x "hello"', AFTER],
  },
  {
    name: 'Expect with something else',
    rfc: '9110 10.1.1',
    bytes: get('Expect: 200-ok'),
    answers: ['GET /x', AFTER],
  },
  {
    name: 'Connection that names Content-Length',
    rfc: '9110 7.6.1',
    bytes: post(['Connection: content-length', 'Content-Length: 5'], 'hello'),
    answers: ['POST /x "hello"', AFTER],
  },
  {
    name: 'a request that is cut short',
    rfc: '9112 8',
    bytes: post(['Content-Length: 500'], 'hello'),
    answers: ['408'],
  },
];
