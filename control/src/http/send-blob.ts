/** Downloads: bytes of a blob as they are read, whole or in part (RFC 9110, section 14), and whether they changed. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Blobs } from '../db/blobs.ts';
import { ControlError } from '../errors.ts';
import { etagOf, notModified } from './etag.ts';

export interface Download {
  /** Names the blob, and is its ETag. */
  readonly sha256: string;
  /** Bytes of it. */
  readonly size: number;
  /** Media type. */
  readonly type: string;
  /** File name for browsers; without quotes and control characters. */
  readonly filename: string;
}

/** Answers 200, 206, 304, or throws 416. One range is served; of several, the whole. */
export function sendBlob(
  blobs: Blobs,
  { sha256, size, type, filename }: Download,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.header('accept-ranges', 'bytes');
  if (notModified(request, reply, sha256)) return reply.code(304).send();
  const range = rangeOf(request, etagOf(sha256), size);
  if (range === 'unsatisfiable') {
    reply.removeHeader('etag').header('content-range', `bytes */${size}`);
    throw new ControlError('range-not-satisfiable', `there are ${size} bytes: request a range within them`);
  }
  const { start, end } = range ?? { start: 0, end: size };
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
  reply.type(type).header('content-length', end - start);
  reply.header('content-disposition', attachment(filename));
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  return reply.send(Readable.from(blobs.readShared({ sha256, size }, { start, end }), { objectMode: false }));
}

/** Returns the Content-Disposition of RFC 6266, for clients that read ASCII only, and for all others. */
function attachment(filename: string): string {
  const plain = `attachment; filename="${filename.replaceAll(/[^\x20-\x7e]/gu, '_')}"`;
  if (/^[\x20-\x7e]*$/.test(filename)) return plain;
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*!]/g,
    (each) => `%${each.charCodeAt(0).toString(16)}`,
  );
  return `${plain}; filename*=UTF-8''${encoded}`;
}

/** Returns the requested part, its end exclusive; null for the whole, also if the request is unclear. */
function rangeOf(request: FastifyRequest, etag: string, size: number) {
  const { range, 'if-range': ifRange } = request.headers;
  if (request.method !== 'GET' || range === undefined) return null;
  // A date would be weak here, and a weak validator never matches (RFC 9110, section 13.1.5).
  if (ifRange !== undefined && ifRange !== etag) return null;
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(range.trim()) ?? [];
  if (from === '' && to === '') return null;
  if (from === '') return Number(to) === 0 ? 'unsatisfiable' : { start: Math.max(0, size - Number(to)), end: size };
  const start = Number(from);
  if (to !== '' && Number(to) < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: to === '' ? size : Math.min(size, Number(to) + 1) };
}
