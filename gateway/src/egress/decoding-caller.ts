/** HTTP calls with decoded answers: some servers encode them although they are asked not to. */
import { Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  inflate,
  zstdDecompress,
} from 'node:zlib';
import { type HeaderList, headerOf } from '../exchange.ts';
import { HttpCallError } from './http-call-error.ts';
import type { HttpAnswer, HttpCaller, HttpStream } from './http-client.ts';

/** Bytes that an encoded answer may have when it is decoded. */
const MOST_DECODED = 16 << 20;

interface Coding {
  whole(body: Uint8Array, options: { readonly maxOutputLength: number }): Promise<Buffer>;
  stream(): Transform;
}

const GZIP: Coding = { whole: promisify(gunzip), stream: () => createGunzip() };
const CODINGS: ReadonlyMap<string, Coding> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  ['deflate', { whole: promisify(inflate), stream: () => createInflate() }],
  ['br', { whole: promisify(brotliDecompress), stream: () => createBrotliDecompress() }],
  ['zstd', { whole: promisify(zstdDecompress), stream: () => createZstdDecompress() }],
]);

/** Removes `content-encoding` from answers. Rejects as `http` does, and for answers that cannot be decoded. */
export function decodingCaller(http: HttpCaller): HttpCaller {
  return {
    call: async (call) => decodedAnswer(await http.call(call)),
    open: async (call) => decodedStream(await http.open(call)),
    upgrade: (call, handshake) => http.upgrade(call, handshake),
  };
}

async function decodedAnswer(answer: HttpAnswer): Promise<HttpAnswer> {
  const { headers, body, holding } = answer;
  try {
    const coding = body.length === 0 ? null : codingOf(headers);
    if (coding === null) return answer;
    const decoded = await coding.whole(body, { maxOutputLength: MOST_DECODED }).catch(notValid);
    if (holding?.take(decoded.length) === false) throw new HttpCallError('no-room', 'no memory is left for its answer');
    return { ...answer, headers: withoutCoding(headers), body: decoded };
  } catch (error) {
    holding?.release();
    throw error;
  }
}

function decodedStream(stream: HttpStream): HttpStream {
  const { headers, body } = stream;
  let coding: Coding | null;
  try {
    coding = codingOf(headers);
  } catch (error) {
    stream.cancel();
    throw error;
  }
  return coding === null
    ? stream
    : { ...stream, headers: withoutCoding(headers), body: decoded(body, coding.stream()) };
}

/** Leaving it leaves the body. */
async function* decoded(body: AsyncIterable<Buffer>, decoder: Transform): AsyncGenerator<Buffer> {
  const source = Readable.from(body, { objectMode: false });
  let broken: Error | null = null;
  source.on('error', (error) => {
    broken = error;
    decoder.destroy(error);
  });
  source.pipe(decoder);
  try {
    for await (const piece of decoder) yield piece;
  } catch (error) {
    throw broken ?? notValid(error);
  } finally {
    source.destroy();
    decoder.destroy();
  }
}

/** Returns null if the body is not encoded. */
function codingOf(headers: HeaderList): Coding | null {
  const name = (headerOf(headers, 'content-encoding') ?? 'identity').trim().toLowerCase();
  if (name === 'identity' || name === '') return null;
  const coding = CODINGS.get(name);
  if (coding === undefined) throw new HttpCallError('failed', 'its answer has an encoding that it was not asked for');
  return coding;
}

function withoutCoding(headers: HeaderList): HeaderList {
  return headers.filter((_, i) => !/^content-(encoding|length)$/.test(headers[i - (i % 2)] ?? ''));
}

function notValid(_error: unknown): never {
  throw new HttpCallError('failed', `its answer is encoded badly, or has more than ${MOST_DECODED} bytes`);
}
