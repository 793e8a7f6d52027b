import { gzipSync, zstdCompressSync } from 'node:zlib';
import lz4 from 'lz4js';
import snappy from 'snappyjs';
import { expect, it } from 'vitest';
import { DECOMPRESS } from './decompress.ts';

const content = Buffer.from(JSON.stringify(Array.from({ length: 5_000 }, (_, i) => ({ id: i % 97 }))));
const nothing = Buffer.alloc(65 << 20);

/** As Java's clients send it: a head, then blocks with their lengths. */
function framedSnappy(bytes: Buffer): Buffer {
  const head = Buffer.from('82534e4150505900' + '00000001' + '00000001', 'hex');
  const blocks = [bytes.subarray(0, 32_768), bytes.subarray(32_768)].flatMap((part) => {
    const block = snappy.compress(part);
    const length = Buffer.alloc(4);
    length.writeInt32BE(block.length);
    return [length, block];
  });
  return Buffer.concat([head, ...blocks]);
}

it.each([
  ['gzip', 'gzip', gzipSync],
  ['Snappy', 'snappy', snappy.compress],
  ['framed Snappy', 'snappy', framedSnappy],
  ['LZ4', 'lz4', (bytes: Buffer) => Buffer.from(lz4.compress(bytes))],
  ['Zstandard', 'zstd', zstdCompressSync],
] as const)('reads what is compressed with %s, and no more than it may', async (_, kind, compress) => {
  expect((await DECOMPRESS[kind](compress(content))).equals(content)).toBe(true);
  await expect(DECOMPRESS[kind](compress(nothing))).rejects.toThrow();
  await expect(DECOMPRESS[kind](Buffer.from('no such thing'))).rejects.toThrow();
});
