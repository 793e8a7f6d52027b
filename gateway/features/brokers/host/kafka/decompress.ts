/** The ways in which producers compress batches, of which the client library has gzip alone, and that without a limit. */
import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import lz4 from 'lz4js';
import snappy from 'snappyjs';

/** Bytes of a decompressed batch: a small one may stand for gigabytes. */
const MOST = 64 << 20;
/** How Java's clients frame Snappy: this, two version numbers, then blocks with their lengths before them. */
const FRAMED_SNAPPY = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const FRAMED_SNAPPY_HEAD = 16;

const [gunzipped, zstdDecompressed] = [promisify(gunzip), promisify(zstdDecompress)];

/** Rejects if the batch is malformed, or too large. */
export const DECOMPRESS: Readonly<Record<'gzip' | 'snappy' | 'lz4' | 'zstd', (batch: Buffer) => Promise<Buffer>>> = {
  gzip: (batch) => gunzipped(batch, { maxOutputLength: MOST }),
  snappy: async (batch) => unsnapped(batch),
  lz4: async (batch) => {
    const bound = lz4.decompressBound(batch);
    if (!(bound <= MOST)) throw new Error('a compressed batch is too large');
    return Buffer.from(lz4.decompress(batch, bound));
  },
  zstd: (batch) => zstdDecompressed(batch, { maxOutputLength: MOST }),
};

function unsnapped(batch: Buffer): Buffer {
  if (!batch.subarray(0, FRAMED_SNAPPY.length).equals(FRAMED_SNAPPY)) return snappy.uncompress(batch, MOST);
  const blocks: Buffer[] = [];
  let left = MOST;
  for (let at = FRAMED_SNAPPY_HEAD; at < batch.length; ) {
    const length = batch.readInt32BE(at);
    at += 4;
    if (length < 0 || at + length > batch.length) throw new Error('a compressed batch is cut off');
    const block = snappy.uncompress(batch.subarray(at, at + length), left);
    left -= block.length;
    blocks.push(block);
    at += length;
  }
  return Buffer.concat(blocks);
}
