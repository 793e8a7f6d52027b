/**
 * Cases of h2spec (2.2.1, written for RFC 7540) that fail against `gw serve`, and why that is so. nghttp2, inside
 * Node.js, makes and reads the frames: where it decides, nothing of ours can be changed.
 */

export interface KnownFailure {
  /** Section of the suite, then the case. */
  readonly name: string;
  readonly why: string;
  /** Where it fails; default both. */
  readonly only?: 'h2c' | 'TLS';
}

const FORGOTTEN =
  'nghttp2 keeps nothing of closed streams and drops what comes for them: nothing of it is served. RFC 9113, 5.1 would have an error of type STREAM_CLOSED.';
const DEPRECATED = 'RFC 9113, 5.3.2 deprecates priority; nghttp2 reads PRIORITY frames no further than to skip them.';

export const KNOWN_FAILURES: readonly KnownFailure[] = [
  {
    name: 'http2/3.5: Sends invalid connection preface',
    only: 'h2c',
    why: 'Bytes that do not begin with PRI are HTTP/1.1 on this port (RFC 9113, 3.3): answered with 400 in HTTP/1.1, and closed.',
  },
  { name: 'http2/5.1: closed: Sends a DATA frame after sending RST_STREAM frame', why: FORGOTTEN },
  { name: 'http2/5.1: closed: Sends a HEADERS frame after sending RST_STREAM frame', why: FORGOTTEN },
  { name: 'http2/5.1: closed: Sends a DATA frame', why: FORGOTTEN },
  { name: 'http2/5.1: closed: Sends a HEADERS frame', why: FORGOTTEN },
  { name: 'http2/5.1.1: Sends stream identifier that is numerically smaller than previous', why: FORGOTTEN },
  { name: 'http2/5.3.1: Sends PRIORITY frame that depend on itself', why: DEPRECATED },
  { name: 'http2/6.3: Sends a PRIORITY frame with 0x0 stream identifier', why: DEPRECATED },
  {
    name: 'http2/6.7: Sends a PING frame with ACK',
    why: 'It is not answered, as 6.7 demands; the suite then wants the connection to go on, and Node.js closes it, for a PING ACK that nobody asked for.',
  },
  {
    name: 'http2/6.9.1: Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream',
    why: 'The connection is closed instead of the stream reset: RFC 9113, 5.4.1 allows to treat a stream error so.',
  },
];
