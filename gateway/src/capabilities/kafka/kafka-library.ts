/**
 * The client library, with two things mended: it decompresses gzip alone, and without a limit; and after its first request
 * a connection of kafkajs 2.2.4 looks a thousand times a second for requests that wait, whether there are any or not, by
 * timers of a negative time, of which Node.js warns.
 */
import kafkajs from 'kafkajs';
import Cluster, { type FetchedMessage, type FetchedPartition } from 'kafkajs/src/cluster/index.js';
import Batch from 'kafkajs/src/consumer/batch.js';
import loggers from 'kafkajs/src/loggers/index.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { DECOMPRESS } from './decompress.ts';

const { scheduleCheckPendingRequests } = RequestQueue.prototype;
RequestQueue.prototype.scheduleCheckPendingRequests = function schedule(this: RequestQueue) {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};

const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;
for (const [type, decompress] of [
  [types.GZIP, DECOMPRESS.gzip],
  [types.Snappy, DECOMPRESS.snappy],
  [types.LZ4, DECOMPRESS.lz4],
  [types.ZSTD, DECOMPRESS.zstd],
] as const) {
  codecs[type] = () => ({ compress: neverCompress, decompress });
}

/** Messages are published as they are. */
function neverCompress(): never {
  throw new Error('nothing is compressed');
}

export const { Kafka, KafkaJSProtocolError, Partitioners } = kafkajs;
export const { createLogger } = loggers;
export { Batch, Cluster, type FetchedMessage, type FetchedPartition };
