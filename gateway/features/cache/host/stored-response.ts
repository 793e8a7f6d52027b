/** The value stored under a key: a response, or a note that there are several, by request headers. */
import { randomUUID } from 'node:crypto';
import { get, type HeaderList, isFieldValue, isObject } from '../../kit.ts';
import type { Freshness } from './freshness.ts';

export interface StoredResponse extends Freshness {
  readonly kind: 'response';
  readonly status: number;
  /** Without `Age`, `Content-Length` and headers that the gateway sets anew. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** When it arrived, in milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Epoch of its path when it was fetched: if the path has another, it was invalidated. */
  readonly epoch: string;
}

/** Takes the place of the response if there are several. */
export interface Variants {
  readonly kind: 'variants';
  /** Request headers by which they differ. */
  readonly names: readonly string[];
  /** Part of their keys: those of an older list are never found again. */
  readonly id: string;
}

export type Stored = StoredResponse | Variants;

export function newVariants(names: readonly string[]): Variants {
  return { kind: 'variants', names, id: randomUUID() };
}

const NO_BODY = new Uint8Array(0);

/** A length in four bytes, JSON of that length, and the body. */
export function encodeStored(stored: Stored): Buffer {
  const { body = NO_BODY, ...head } = { body: undefined, ...stored };
  const json = Buffer.from(JSON.stringify(head));
  const bytes = Buffer.allocUnsafe(4 + json.length + body.length);
  bytes.writeUInt32BE(json.length);
  bytes.set(json, 4);
  bytes.set(body, 4 + json.length);
  return bytes;
}

/** Decoded values by the bytes that they were read from: a store in the process returns the same bytes again. */
const known = new WeakMap<Uint8Array, Stored>();

/** Returns null for malformed bytes: write access to the store must not allow response splitting. */
export function decodeStored(bytes: Uint8Array | null): Stored | null {
  if (bytes === null) return null;
  const before = known.get(bytes);
  if (before !== undefined) return before;
  const stored = decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (stored !== null) known.set(bytes, stored);
  return stored;
}

function decode(bytes: Buffer): Stored | null {
  if (bytes.length < 4) return null;
  const end = 4 + bytes.readUInt32BE();
  if (end > bytes.length) return null;
  let head: unknown;
  try {
    head = JSON.parse(bytes.toString('utf8', 4, end));
  } catch {
    return null;
  }
  return get(head, 'kind') === 'variants' ? variantsOf(head) : responseOf(head, bytes.subarray(end));
}

function variantsOf(head: unknown): Variants | null {
  const [names, id] = [get(head, 'names'), get(head, 'id')];
  return isTexts(names) && typeof id === 'string' ? { kind: 'variants', names, id } : null;
}

function responseOf(head: unknown, body: Uint8Array): StoredResponse | null {
  if (!isObject(head)) return null;
  const { headers, epoch } = head;
  const number = (name: string): number => {
    const value = head[name];
    return typeof value === 'number' ? value : Number.NaN;
  };
  const response = {
    kind: 'response' as const,
    status: number('status'),
    receivedAt: number('receivedAt'),
    lifetime: number('lifetime'),
    initialAge: number('initialAge'),
    whileRevalidating: number('whileRevalidating'),
    ifError: number('ifError'),
  };
  if (Object.values(response).some((value) => Number.isNaN(value)) || typeof epoch !== 'string') return null;
  if (response.status < 200 || response.status > 599 || !isTexts(headers) || !areHeaders(headers)) return null;
  return { ...response, headers, epoch, body };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

function areHeaders(list: HeaderList): boolean {
  if (list.length % 2 !== 0) return false;
  return list.every((text, i) => (i % 2 === 0 ? TOKEN.test(text) : isFieldValue(text)));
}
