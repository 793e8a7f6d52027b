/** Files in the keys of ConfigMaps: whole, gzipped, or in parts if one ConfigMap cannot hold them. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { messageOf } from '@gw/gateway/message-of';
import { SourceError } from './source.ts';

type Files = ReadonlyMap<string, Uint8Array>;

/** Bytes that all files may have once unpacked: a gzipped key could hold a thousand times its size. */
const MAX_UNPACKED = 64 << 20;
const PART = /^(.+)\.part([0-9]{1,4})$/;

const gunzipped = promisify(gunzip);

/** Joins keys `NAME.part0`, `NAME.part1` … in the order of their numbers. Throws SourceError if one is missing. */
export function joinParts(entries: Files): Files {
  const whole = new Map<string, Uint8Array>();
  const parts = new Map<string, Map<number, Uint8Array>>();
  for (const [key, bytes] of entries) {
    const [, name, number] = PART.exec(key) ?? [];
    if (name === undefined) whole.set(key, bytes);
    else {
      const of = parts.get(name) ?? new Map<number, Uint8Array>();
      if (of.has(Number(number))) throw invalid(`part ${Number(number)} of "${name}" exists twice`);
      parts.set(name, of.set(Number(number), bytes));
    }
  }
  for (const [name, of] of parts) {
    if (whole.has(name)) throw invalid(`the keys "${name}" and "${name}.part…" both exist`);
    const numbers = [...of.keys()].sort((a, b) => a - b);
    const missing = numbers.findIndex((number, i) => number !== i);
    if (missing >= 0) throw invalid(`part ${missing} of "${name}" is missing`);
    whole.set(name, Buffer.concat(numbers.map((number) => of.get(number) ?? new Uint8Array())));
  }
  return whole;
}

/** Unpacks every file that ends in `.gz` under the name without it. Rejects with SourceError. */
export async function unpackGzipped(entries: Files): Promise<Files> {
  const unpacked = new Map<string, Uint8Array>();
  let left = MAX_UNPACKED;
  for (const [key, bytes] of entries) {
    const name = key.endsWith('.gz') ? key.slice(0, -3) : key;
    if (unpacked.has(name)) throw invalid(`the keys "${name}" and "${name}.gz" both exist`);
    const content = key === name ? bytes : await gunzipWithin(key, bytes, left);
    left -= content.length;
    unpacked.set(name, content);
  }
  return unpacked;
}

async function gunzipWithin(key: string, bytes: Uint8Array, most: number): Promise<Uint8Array> {
  try {
    return await gunzipped(bytes, { maxOutputLength: Math.max(1, most) });
  } catch (error) {
    throw invalid(`key "${key}" cannot be unpacked: ${messageOf(error)}`);
  }
}

function invalid(message: string): SourceError {
  return new SourceError('SourceInvalid', message);
}
