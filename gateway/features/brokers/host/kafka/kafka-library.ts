/**
 * The client library, kafkajs 2.2.4, with four corrections. It decompresses gzip alone, and without a limit. After its
 * first request a connection checks for waiting requests a thousand times a second, even when idle, by timers of a
 * negative time, of which Node.js warns. A reconnected connection begins with the rest of an answer that was cut off,
 * and so reads every later one at the wrong place. And an unreadable answer throws an uncaught error.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import kafkajs from 'kafkajs';
import Cluster, { type FetchedMessage, type FetchedPartition } from 'kafkajs/src/cluster/index.js';
import Batch from 'kafkajs/src/consumer/batch.js';
import loggers from 'kafkajs/src/loggers/index.js';
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { DECOMPRESS } from './decompress.ts';

const LENGTH_BYTES = 4;

const { scheduleCheckPendingRequests } = RequestQueue.prototype;
RequestQueue.prototype.scheduleCheckPendingRequests = function schedule(this: RequestQueue) {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};

const { connect, processData } = Connection.prototype;
Connection.prototype.connect = function connectAnew(this: Connection) {
  if (!this.isConnected()) {
    this.chunks = [];
    this.bytesBuffered = 0;
    this.bytesNeeded = LENGTH_BYTES;
  }
  return connect.call(this);
};
Connection.prototype.processData = function processOrFail(this: Connection, chunk: Buffer) {
  try {
    processData.call(this, chunk);
  } catch (error) {
    this.socket.destroy(new Error('an answer of the broker cannot be read', { cause: error }));
  }
};

const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;
for (const [type, decompress] of [
  [types.GZIP, DECOMPRESS.gzip],
  [types.Snappy, DECOMPRESS.snappy],
  [types.LZ4, DECOMPRESS.lz4],
  [types.ZSTD, DECOMPRESS.zstd],
] as const) {
  codecs[type] = () => ({ compress: neverCompress, decompress: (records: Buffer) => unpacked(records, decompress) });
}

/** A batch that cannot be unpacked: its offsets. */
export interface UnreadableBatch {
  readonly first: number;
  readonly last: number;
  readonly cause: unknown;
}

const unreadableBatches = new AsyncLocalStorage<UnreadableBatch[]>();

/** Notes batches that cannot be unpacked, which end the read of their partition, as one that is cut off does. */
export async function noteUnreadable<T>(
  read: () => Promise<T>,
): Promise<{ readonly read: T; readonly unreadable: readonly UnreadableBatch[] }> {
  const unreadable: UnreadableBatch[] = [];
  return { read: await unreadableBatches.run(unreadable, read), unreadable };
}

/** Bytes before the records of a batch, and records that it may have (kafka.apache.org/documentation/#recordbatch). */
const BATCH_HEAD = 61;
const MAGIC = 2;
const MOST_RECORDS = 200_000;

async function unpacked(records: Buffer, decompress: (records: Buffer) => Promise<Buffer>): Promise<Buffer> {
  const head = headBefore(records);
  try {
    if (head !== null && head.readInt32BE(57) > MOST_RECORDS) throw new Error('a batch has too many messages');
    return await decompress(records);
  } catch (cause) {
    const noted = unreadableBatches.getStore();
    if (noted === undefined || head === null) throw cause;
    const first = Number(head.readBigInt64BE(0));
    noted.push({ first, last: first + head.readInt32BE(23), cause });
    throw Object.assign(new Error('a batch cannot be unpacked', { cause }), { name: 'KafkaJSPartialMessageError' });
  }
}

/** Returns the head of the batch with these records: the library leaves them in the buffer of the answer. */
function headBefore({ buffer, byteOffset }: Buffer): Buffer | null {
  if (byteOffset < BATCH_HEAD) return null;
  const head = Buffer.from(buffer, byteOffset - BATCH_HEAD, BATCH_HEAD);
  return head[16] === MAGIC ? head : null;
}

/** Messages are published as they are. */
function neverCompress(): never {
  throw new Error('nothing is compressed');
}

export const { Kafka, Partitioners } = kafkajs;
export const { createLogger } = loggers;
export { Batch, Cluster, type FetchedMessage, type FetchedPartition };
