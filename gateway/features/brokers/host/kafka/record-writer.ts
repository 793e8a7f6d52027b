/** Writes a batch of records (kafka.apache.org/documentation/#recordbatch), uncompressed. */
import type { KafkaMessage } from './kafka-message.ts';
import type { ProducerId } from './protocol.ts';

const HEAD = 61;
/** Bytes before the part that the length counts, and before the one that the checksum covers. */
const [LENGTH_FROM, CHECKSUM_FROM] = [12, 21];
const MAGIC = 2;

/** `sequence`: the number of the first message, of the producer in the partition; `time`: milliseconds since 1970. */
export function batchOf(
  messages: readonly KafkaMessage[],
  producer: ProducerId,
  sequence: number,
  time: number,
): Buffer {
  const batch = Buffer.concat([Buffer.alloc(HEAD), ...messages.flatMap(recordOf)]);
  batch.writeInt32BE(batch.length - LENGTH_FROM, 8);
  batch.writeInt32BE(-1, 12);
  batch.writeInt8(MAGIC, 16);
  batch.writeInt32BE(messages.length - 1, 23);
  batch.writeBigInt64BE(BigInt(time), 27);
  batch.writeBigInt64BE(BigInt(time), 35);
  batch.writeBigInt64BE(producer.id, 43);
  batch.writeInt16BE(producer.epoch, 51);
  batch.writeInt32BE(sequence, 53);
  batch.writeInt32BE(messages.length, 57);
  batch.writeUInt32BE(crc32c(batch.subarray(CHECKSUM_FROM)), 17);
  return batch;
}

/** Returns the record in parts, so that the payload is copied once. */
function recordOf({ payload, key, headers }: KafkaMessage, index: number): readonly Uint8Array[] {
  // No attributes, and the time of the batch.
  const before = [0, 0];
  writeVarint(before, index);
  writeText(before, key);
  writeVarint(before, payload.length);
  const after: number[] = [];
  writeVarint(after, headers.length);
  for (const text of headers.flat()) writeText(after, text);
  const length: number[] = [];
  writeVarint(length, before.length + payload.length + after.length);
  return [Buffer.from(length), Buffer.from(before), payload, Buffer.from(after)];
}

function writeText(bytes: number[], text: string | null): void {
  if (text === null) return writeVarint(bytes, -1);
  const encoded = Buffer.from(text);
  writeVarint(bytes, encoded.length);
  for (const byte of encoded) bytes.push(byte);
}

/** Zigzag, of 32 bits. */
function writeVarint(bytes: number[], value: number): void {
  let left = ((value << 1) ^ (value >> 31)) >>> 0;
  for (; left > 0x7f; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  bytes.push(left);
}

const CASTAGNOLI = 0x82f63b78;
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? CASTAGNOLI : 0);
  return crc;
});

function crc32c(bytes: Buffer): number {
  let crc = -1;
  for (let at = 0; at < bytes.length; at++) crc = TABLE[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
