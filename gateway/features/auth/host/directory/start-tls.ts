/**
 * StartTLS (RFC 4511, section 4.14) on a fresh connection, before any other message: unencrypted bytes behind the
 * answer could come from an attacker, and end it.
 */
import type { Socket } from 'node:net';

/** ExtendedRequest number 1 for OID 1.3.6.1.4.1.1466.20037. */
const REQUEST = Buffer.concat([
  Buffer.from('301d020101771880', 'hex'),
  Buffer.from([22]),
  Buffer.from('1.3.6.1.4.1.1466.20037', 'latin1'),
]);
const SEQUENCE = 0x30;
const INTEGER = 0x02;
const ENUMERATED = 0x0a;
const EXTENDED_RESPONSE = 0x78;
/** More than any server sends. */
const MOST_BYTES = 4096;

/** Resolves when the server is ready for a TLS handshake; rejects if it refuses, or sends anything else. */
export function startTls(socket: Socket, deadline: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const end = (error?: Error) => {
      socket.off('readable', read).off('error', end).off('close', closed);
      deadline.removeEventListener('abort', late);
      if (error) reject(error);
      else resolve();
    };
    const closed = () => end(new Error('the connection was closed before StartTLS'));
    const late = () => end(new Error('no answer to StartTLS in time'));
    const read = () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      received = Buffer.concat([received, chunk]);
      const code = resultOf(received);
      if (code === 'partial') return;
      if (code === 0) end();
      else
        end(new Error(code === 'malformed' ? 'the answer to StartTLS is not LDAP' : `StartTLS was refused (${code})`));
    };
    socket.on('readable', read).once('error', end).once('close', closed);
    deadline.addEventListener('abort', late, { once: true });
    socket.write(REQUEST);
  });
}

/** Returns the result code of the only message. */
function resultOf(bytes: Buffer): number | 'partial' | 'malformed' {
  const message = element(bytes, SEQUENCE);
  if (typeof message === 'string') return bytes.length > MOST_BYTES ? 'malformed' : message;
  if (message.rest.length > 0) return 'malformed';
  const id = element(message.content, INTEGER);
  if (typeof id === 'string' || !id.content.equals(Buffer.of(1))) return 'malformed';
  const response = element(id.rest, EXTENDED_RESPONSE);
  if (typeof response === 'string') return 'malformed';
  const code = element(response.content, ENUMERATED);
  return typeof code === 'string' || code.content.length !== 1 ? 'malformed' : code.content.readUInt8(0);
}

interface Element {
  readonly content: Buffer;
  readonly rest: Buffer;
}

/** The first element of BER with a definite length. */
function element(bytes: Buffer, tag: number): Element | 'partial' | 'malformed' {
  if (bytes.length > 0 && bytes[0] !== tag) return 'malformed';
  if (bytes.length < 2) return 'partial';
  const first = bytes.readUInt8(1);
  const octets = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || octets > 4) return 'malformed';
  if (bytes.length < 2 + octets) return 'partial';
  const length = octets === 0 ? first : bytes.readUIntBE(2, octets);
  if (length > MOST_BYTES) return 'malformed';
  const start = 2 + octets;
  if (bytes.length < start + length) return 'partial';
  return { content: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) };
}
