/** Questions of one context as vectors, each with the key of its answer, as they stand in the store: the oldest first. */
import { get } from '../../../../kit.ts';

export interface IndexedQuestion {
  /** Key of the answer. */
  readonly key: string;
  /** Milliseconds since the epoch, until which it is stored. */
  readonly until: number;
  /** A vector of length 1. */
  readonly vector: Float32Array;
}

export interface Similar {
  readonly key: string;
  /** Cosine of the angle between the two. */
  readonly similarity: number;
}

/** A length in four bytes, JSON of that length, and the vectors, each number as four bytes. */
export function encodeIndex(questions: readonly IndexedQuestion[]): Buffer {
  const head = { size: questions[0]?.vector.length ?? 0, entries: questions.map(({ key, until }) => [key, until]) };
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  const vectors = questions.map(({ vector }) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength));
  return Buffer.concat([length, json, ...vectors]);
}

/** Returns an empty list for malformed bytes. */
export function decodeIndex(stored: Uint8Array | null): IndexedQuestion[] {
  if (stored === null || stored.length < 4) return [];
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  const end = 4 + bytes.readUInt32BE();
  const head = end > bytes.length ? null : jsonOf(bytes.toString('utf8', 4, end));
  const [size, entries] = [get(head, 'size'), get(head, 'entries')];
  if (typeof size !== 'number' || !Array.isArray(entries) || !(size > 0)) return [];
  if (bytes.length !== end + entries.length * size * Float32Array.BYTES_PER_ELEMENT) return [];
  // A copy: numbers of four bytes begin at their multiples.
  const numbers = new Float32Array(new Uint8Array(bytes.subarray(end)).buffer);
  return entries.flatMap((entry: unknown, i) => {
    const [key, until]: readonly unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof key !== 'string' || typeof until !== 'number') return [];
    return [{ key, until, vector: numbers.subarray(i * size, (i + 1) * size) }];
  });
}

/** Returns questions at least as near as `threshold`, the nearest first. */
export function similarTo(
  vector: Float32Array,
  questions: readonly IndexedQuestion[],
  { threshold, now }: { readonly threshold: number; readonly now: number },
): readonly Similar[] {
  return questions
    .filter((each) => each.until > now && each.vector.length === vector.length)
    .map((each) => ({ key: each.key, similarity: cosine(vector, each.vector) }))
    .filter(({ similarity }) => similarity >= threshold)
    .sort((a, b) => b.similarity - a.similarity);
}

/** The least that a double holds with all its digits: the length of a shorter vector says little of its direction. */
const LEAST_LENGTH = 2 ** -1022;

/** Returns null if it has no direction. */
export function normalise(numbers: readonly number[]): Float32Array | null {
  const length = Math.hypot(...numbers);
  if (!Number.isFinite(length) || length < LEAST_LENGTH) return null;
  return Float32Array.from(numbers, (each) => each / length);
}

function cosine(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i++) sum += (one[i] as number) * (other[i] as number);
  return sum;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
