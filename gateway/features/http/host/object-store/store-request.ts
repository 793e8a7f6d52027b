/** The request to a store: its headers, signed as it is sent, and its body in a form that can be signed. */
import type { Readable } from 'node:stream';
import {
  type Exchange,
  type HeaderList,
  headerOf,
  Interrupted,
  NotSendable,
  problem,
  problemOf,
  type UpstreamRequest,
} from '../../../kit.ts';
import { sha256Hex } from './sha256.ts';
import { chunkedLength, SignedChunks } from './signed-chunks.ts';
import type { Signed, Signer } from './signer.ts';
import type { StoreQuery } from './store-query.ts';

export interface StoreAddress {
  /** Value of `Host`. */
  readonly authority: string;
  /** Origin to connect to, if it is not the upstream itself. */
  readonly origin: string | undefined;
  /** The connection is encrypted or local: streaming bodies need no signature of their own. */
  readonly secure: boolean;
}

export interface StoreTarget {
  readonly signer: Signer;
  readonly address: StoreAddress;
  readonly exchange: Exchange;
  readonly query: StoreQuery;
}

/** Headers that the gateway sets, or that concern the client's connection alone. */
const NOT_TO_STORE = new Set([
  ...['host', 'content-length', 'authorization', 'date', 'forwarded', 'x-real-ip', 'x-forwarded-for'],
  ...['x-forwarded-proto', 'x-forwarded-host', 'x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token'],
  ...['x-amz-decoded-content-length', 'x-amz-trailer'],
]);
const UNSIGNED = 'UNSIGNED-PAYLOAD';
const CHUNKED = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
const OF_NOTHING = sha256Hex(new Uint8Array(0));

/** A body and the headers that it brings. */
interface Payload {
  /** Value of `x-amz-content-sha256`. */
  readonly hash: string;
  readonly headers: HeaderList;
  body(signed: Signed): UpstreamRequest['body'];
}

/** Makes and signs it. Rejects with NotSendable if the body is one that S3 does not take. */
export async function storeRequest(request: UpstreamRequest, target: StoreTarget): Promise<UpstreamRequest> {
  const { signer, address, exchange, query } = target;
  const payload = await payloadOf(request, target);
  const unsigned = [...passedHeaders(request.headers), 'x-amz-content-sha256', payload.hash, ...payload.headers];
  const signed = await signer.sign({
    method: exchange.method,
    path: request.path.split('?')[0] ?? '',
    query,
    headers: ['host', address.authority, ...unsigned.filter((_, i) => isAmz(unsigned[i - (i % 2)] ?? ''))],
  });
  const headers = ['host', address.authority, ...unsigned, ...signed.headers];
  const { origin } = address;
  return { path: request.path, headers, body: payload.body(signed), ...(origin === undefined ? {} : { origin }) };
}

/** S3 takes those of AWS signed only. */
function isAmz(name: string): boolean {
  return name.startsWith('x-amz-');
}

function passedHeaders(headers: HeaderList): HeaderList {
  return headers.filter((_, i) => !NOT_TO_STORE.has(headers[i - (i % 2)] ?? ''));
}

async function payloadOf({ body, headers }: UpstreamRequest, target: StoreTarget): Promise<Payload> {
  if (isFramed(headerOf(headers, 'content-encoding'))) throw new NotSendable(framedAlready());
  if (body === null) return whole(null, headerOf(headers, 'content-length'));
  if (body instanceof Uint8Array) return whole(body, String(body.length));
  const { exchange, query, address, signer } = target;
  if (body === exchange.bodyStream && !isData(exchange.method, query)) {
    const read = await readWhole(exchange);
    return whole(read, String(read.length));
  }
  const length = headerOf(headers, 'content-length');
  if (length === undefined) throw new NotSendable(noLength());
  if (address.secure) return { hash: UNSIGNED, headers: ['content-length', length], body: () => body };
  // Without the content encoding `aws-chunked`, which some stores keep with the object: the hash announces the chunks.
  return {
    hash: CHUNKED,
    headers: ['x-amz-decoded-content-length', length, 'content-length', String(chunkedLength(Number(length)))],
    body: (signed) => inChunks(body, signer, signed),
  };
}

function whole(body: Uint8Array | null, length: string | undefined): Payload {
  const headers = length === undefined ? [] : ['content-length', length];
  return { hash: body === null ? OF_NOTHING : sha256Hex(body), headers, body: () => body };
}

/** Parameters of requests that carry an object; AWS's clients name the operation in `x-id`. */
const OF_DATA = new Set(['partNumber', 'uploadId', 'x-id']);

/**
 * Reports whether S3 takes the body in chunks: an object, or a part of one. Other bodies are documents about objects.
 */
function isData(method: string, { values }: StoreQuery): boolean {
  return method === 'PUT' && Object.keys(values).every((name) => OF_DATA.has(name));
}

/** Within the gateway's limits of bodies that are held. */
async function readWhole(exchange: Exchange): Promise<Uint8Array> {
  try {
    return await exchange.readBody();
  } catch (error) {
    const refusal = problemOf(exchange.answer);
    throw error instanceof Interrupted && refusal !== null ? new NotSendable(refusal) : error;
  }
}

function isFramed(encoding: string | undefined): boolean {
  return encoding !== undefined && /(^|,)\s*aws-chunked\s*(,|$)/i.test(encoding);
}

function inChunks(body: Readable, signer: Signer, { signature, signedAt }: Signed): Readable {
  const chunks = new SignedChunks(signature, (digest, before) => signer.signChunk(digest, before, signedAt));
  chunks.on('close', () => {
    if (!body.readableEnded) body.destroy();
  });
  // The sender may have left the stream before the client breaks off.
  chunks.on('error', () => {});
  return body.on('error', (error) => chunks.destroy(error)).pipe(chunks);
}

function noLength() {
  return problem('length-required', 'Send the length of the body in Content-Length: the object store needs it.');
}

function framedAlready() {
  return problem('unsupported-media-type', 'Send the body as it is, without the content encoding aws-chunked.');
}
