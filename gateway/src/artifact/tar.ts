/**
 * Writes and reads the tar inside an artifact. Written with tar-stream, every header the same on every machine. Read by
 * code of its own: one buffer, no copies, and only plain files (a general reader takes links, devices, sparse files and
 * bytes behind the end).
 */
import { pack } from 'tar-stream';
import { ArtifactError } from './error.ts';

const BLOCK = 512;
/** Bytes that tools write at once (POSIX, `pax`: 20 blocks). */
const RECORD = 20 * BLOCK;
/** An artifact holds a manifest, routes, and a file for each spec and plugin. */
const MAX_ENTRIES = 10_000;
/** Bytes of a pax header: it carries a long or non-ASCII name only. */
const MAX_PAX = 4096;
const MAX_NAME = 512;

export interface TarEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Sorted by name; equal entries give equal bytes. */
export async function writeTar(entries: readonly TarEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, bytes } of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    tar.entry({ name, size: bytes.length, mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) }, asBuffer(bytes));
  }
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Entries by name, as views into `tar`. Throws ArtifactError for anything but a clean archive of plain files. */
export function readTar(tar: Buffer): Map<string, Buffer> {
  const entries = new Map<string, Buffer>();
  let at = 0;
  let longName: string | null = null;
  for (;;) {
    const header = tar.subarray(at, at + BLOCK);
    if (header.length < BLOCK) throw malformed('it is cut short');
    if (isZero(header)) break;
    const { name, size, type } = readHeader(header);
    const body = tar.subarray(at + BLOCK, at + BLOCK + size);
    const end = at + BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (body.length < size || end > tar.length) throw malformed('it is cut short');
    if (!isZero(tar.subarray(at + BLOCK + size, end))) throw malformed(`bytes lie between its entries`);
    at = end;
    if (type === 'x') {
      if (longName !== null || size > MAX_PAX) throw malformed('it has a header that artifacts do not use');
      longName = readPaxPath(body);
      continue;
    }
    if (type !== '0') throw malformed(`"${name}" is not a plain file (type "${type}")`);
    const full: string = longName ?? name;
    longName = null;
    checkName(full);
    if (entries.has(full)) throw malformed(`"${full}" occurs in it twice`);
    if (entries.size >= MAX_ENTRIES) throw new ArtifactError('too-large', `it has more than ${MAX_ENTRIES} entries`);
    entries.set(full, body);
  }
  // Two blocks of zeros, and more if a tool fills up its last record.
  const end = tar.length - at;
  const isWhole = end === 2 * BLOCK || (end > 2 * BLOCK && end <= RECORD + BLOCK && tar.length % RECORD === 0);
  if (longName !== null || !isWhole || !isZero(tar.subarray(at))) {
    throw malformed('bytes follow its end, or its end is missing');
  }
  return entries;
}

function malformed(what: string): ArtifactError {
  return new ArtifactError('malformed', `the archive is malformed: ${what}`);
}

function readHeader(header: Buffer): { name: string; size: number; type: string } {
  let sum = 8 * 0x20;
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += header[i] as number;
  if (octal(header.subarray(148, 156)) !== sum) throw malformed('a header fails its checksum');
  if (header.toString('latin1', 257, 265) !== 'ustar\x0000')
    throw malformed('it is not in ustar format: write it with --format=ustar');
  const prefix = text(header.subarray(345, 500));
  const name = text(header.subarray(0, 100));
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: octal(header.subarray(124, 136)),
    type: String.fromCharCode(header[156] as number),
  };
}

function octal(field: Buffer): number {
  const digits = /^([0-7]+)[ \0]*$/.exec(field.toString('latin1'))?.[1];
  if (digits === undefined) throw malformed('a header holds a bad number');
  return Number.parseInt(digits, 8);
}

function text(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

/** A pax header with the one record `path`: `<length> path=<name>\n`. */
function readPaxPath(body: Buffer): string {
  const record = /^(\d+) path=([^\n]+)\n$/.exec(body.toString('utf8'));
  if (!record || Number(record[1]) !== body.length) throw malformed('it has a header that artifacts do not use');
  return record[2] as string;
}

/** Relative, with `/`, in normal form. */
function checkName(name: string): void {
  const bad =
    name.length === 0 ||
    name.length > MAX_NAME ||
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be in a name
    /[\\\x00-\x1f\x7f]|^[a-zA-Z]:/.test(name) ||
    name.split('/').some((part) => part === '' || part === '.' || part === '..');
  if (bad) throw malformed(`it has an entry with the unsafe name ${JSON.stringify(name.slice(0, 100))}`);
}

const zeros = Buffer.alloc(BLOCK);

function isZero(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const part = bytes.subarray(at, at + BLOCK);
    if (!part.equals(zeros.subarray(0, part.length))) return false;
  }
  return true;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
