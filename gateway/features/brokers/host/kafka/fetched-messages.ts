/** Reads messages out of what brokers send of a partition (kafka.apache.org/documentation/#recordbatch). */
import { DECOMPRESS } from './decompress.ts';
import type { FetchedPartition } from './protocol.ts';
import { type KafkaRecord, RecordReader } from './record-reader.ts';

export interface FetchedBatch {
  /** Offsets of its first and last message, of which some may be hidden, or gone. */
  readonly first: number;
  readonly last: number;
  /** Null: it cannot be read. */
  readonly records: readonly KafkaRecord[] | null;
}

/** Bytes before the records of a batch, and before the part that its length counts. */
const HEAD = 61;
const BEFORE_LENGTH = 12;
const MAGIC = 2;
/** Records that a batch may have. */
const MOST_RECORDS = 200_000;
const COMPRESSIONS = [null, DECOMPRESS.gzip, DECOMPRESS.snappy, DECOMPRESS.lz4, DECOMPRESS.zstd] as const;
const COMPRESSION = 0b111;
const LOG_TIME = 0b1_000;
const TRANSACTIONAL = 0b10_000;
const CONTROL = 0b100_000;
/** Key of the record that ends a transaction which was taken back: version 0, type 0. */
const ABORT = Buffer.from([0, 0, 0, 0]);

interface Head {
  readonly first: number;
  readonly last: number;
  readonly attributes: number;
  readonly timestamp: number;
  readonly producer: bigint;
  readonly count: number;
  readonly body: Buffer;
}

/** Formats before record batches, which Kafka 4 no longer has, cannot be read. */
const OTHER_FORMAT = { attributes: COMPRESSION, timestamp: 0, producer: -1n, count: 0, body: Buffer.alloc(0) };

/**
 * Yields the batches in turn, without messages of transactions that were taken back. Throws if what comes is no batch.
 */
export async function* batchesOf({ records, aborted }: FetchedPartition): AsyncGenerator<FetchedBatch> {
  const pending = aborted.toSorted((one, other) => one.first - other.first);
  const takenBack = new Set<bigint>();
  for (let at = 0; at + BEFORE_LENGTH <= records.length; ) {
    const end = at + BEFORE_LENGTH + records.readInt32BE(at + 8);
    // The last one may be cut off.
    if (end > records.length) return;
    const head = headOf(records.subarray(at, end));
    at = end;
    const { first, last, attributes, producer } = head;
    while (pending[0] !== undefined && pending[0].first <= last) takenBack.add(pending.shift()?.producer ?? -1n);
    const read = await recordsOf(head);
    if ((attributes & CONTROL) !== 0) {
      if (read?.[0]?.key?.equals(ABORT)) takenBack.delete(producer);
      yield { first, last, records: [] };
    } else {
      const isHidden = (attributes & TRANSACTIONAL) !== 0 && takenBack.has(producer);
      yield { first, last, records: isHidden ? [] : read };
    }
  }
}

function headOf(batch: Buffer): Head {
  const first = Number(batch.readBigInt64BE(0));
  if (batch.readInt8(16) !== MAGIC) return { ...OTHER_FORMAT, first, last: first };
  const attributes = batch.readInt16BE(21);
  return {
    first,
    last: first + batch.readInt32BE(23),
    attributes,
    timestamp: Number(batch.readBigInt64BE((attributes & LOG_TIME) === 0 ? 27 : 35)),
    producer: batch.readBigInt64BE(43),
    count: batch.readInt32BE(57),
    body: batch.subarray(HEAD),
  };
}

/** Returns null if they cannot be unpacked, or are too many. */
async function recordsOf({ first, attributes, timestamp, count, body }: Head): Promise<readonly KafkaRecord[] | null> {
  try {
    if (count > MOST_RECORDS) return null;
    const decompress = COMPRESSIONS[attributes & COMPRESSION];
    if (decompress === undefined) return null;
    const reader = new RecordReader(decompress === null ? body : await decompress(body), first, timestamp);
    const records = Array.from({ length: count }, () => reader.next());
    return (attributes & LOG_TIME) === 0 ? records : records.map((record) => ({ ...record, timestamp }));
  } catch {
    return null;
  }
}
