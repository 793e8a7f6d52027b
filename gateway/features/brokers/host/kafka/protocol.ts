/**
 * The requests that the gateway makes of brokers (kafka.apache.org/protocol), in the oldest versions that have what it
 * needs: brokers take them from Kafka 0.11 to 4, and so do Redpanda and Azure Event Hubs.
 */
import { throwIfError } from './kafka-error.ts';
import type { AnswerReader, RequestWriter } from './wire.ts';

export interface Api<Request, Answer> {
  readonly key: number;
  readonly version: number;
  write(writer: RequestWriter, request: Request): void;
  /** Throws KafkaError if the broker refuses the request as a whole. */
  read(reader: AnswerReader): Answer;
}

/** A connection to a broker. */
export interface Requester {
  /** Rejects with KafkaError, or with ConnectionLost: then it is unknown what the broker did. */
  request<Request, Answer>(api: Api<Request, Answer>, request: Request): Promise<Answer>;
}

export interface Partition {
  readonly index: number;
  /** Number of the node; negative: none. */
  readonly leader: number;
}

export interface Node {
  readonly host: string;
  readonly port: number;
}

export interface Metadata {
  readonly nodes: ReadonlyMap<number, Node>;
  /** In the order of their numbers. */
  readonly partitions: readonly Partition[];
}

const READ_COMMITTED = 1;
const NO_REPLICA = -1;
const ALL_REPLICAS = -1;
/** Milliseconds, which brokers ignore for producers without transactions. */
const TRANSACTION_MS = 60_000;

/** The highest version of each API that the broker takes. */
export const API_VERSIONS: Api<null, ReadonlyMap<number, number>> = {
  key: 18,
  version: 0,
  write() {},
  read(reader) {
    throwIfError(reader.int16());
    const ranges = reader.list(() => [reader.int16(), reader.int16(), reader.int16()] as const);
    return new Map(ranges.map(([key, , newest]) => [key, newest]));
  },
};

/** The nodes, and the partitions of a topic, which brokers may create. */
export const METADATA: Api<string, Metadata> = {
  key: 3,
  version: 4,
  write: (writer, topic) => writer.list([topic], (name) => writer.text(name)).int8(1),
  read(reader) {
    reader.skip(4);
    const nodes = reader.list(() => {
      const node = [reader.int32(), { host: reader.text(), port: reader.int32() }] as const;
      reader.text();
      return node;
    });
    reader.text();
    reader.skip(4);
    const [topic] = reader.list(() => {
      const error = reader.int16();
      reader.text();
      reader.skip(1);
      return { error, partitions: reader.list(() => partitionOf(reader)) };
    });
    if (topic === undefined) throw new Error('the broker does not answer for the topic');
    throwIfError(topic.error);
    return { nodes: new Map(nodes), partitions: topic.partitions.sort((one, other) => one.index - other.index) };
  },
};

function partitionOf(reader: AnswerReader): Partition {
  // A partition with an error has no leader, or one that says what is wrong.
  reader.skip(2);
  const partition = { index: reader.int32(), leader: reader.int32() };
  for (let lists = 0; lists < 2; lists++) reader.list(() => reader.int32());
  return partition;
}

/** By what brokers know a producer. */
export interface ProducerId {
  readonly id: bigint;
  readonly epoch: number;
}

export const INIT_PRODUCER_ID: Api<null, ProducerId> = {
  key: 22,
  version: 0,
  write: (writer) => writer.text(null).int32(TRANSACTION_MS),
  read(reader) {
    reader.skip(4);
    throwIfError(reader.int16());
    return { id: reader.int64(), epoch: reader.int16() };
  },
};

/** Messages of one partition. */
export interface RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Buffer;
}

export interface ProduceRequest {
  /** Milliseconds that the broker waits for its replicas. */
  readonly waitMs: number;
  readonly batches: readonly RecordBatch[];
}

export interface ProducedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly error: number;
  /** Offset of the first message; negative: the broker does not say. */
  readonly offset: number;
}

export const PRODUCE: Api<ProduceRequest, readonly ProducedBatch[]> = {
  key: 0,
  version: 3,
  write: (writer, { waitMs, batches }) =>
    writer
      .text(null)
      .int16(ALL_REPLICAS)
      .int32(waitMs)
      .list([...Map.groupBy(batches, ({ topic }) => topic)], ([topic, parts]) =>
        writer.text(topic).list(parts, ({ partition, bytes }) => writer.int32(partition).bytes(bytes)),
      ),
  read(reader) {
    const topics = reader.list(() => {
      const topic = reader.text();
      return reader.list((): ProducedBatch => {
        const [partition, error, offset] = [reader.int32(), reader.int16(), Number(reader.int64())];
        reader.skip(8);
        return { topic, partition, error, offset };
      });
    });
    return topics.flat();
  },
};

export interface OffsetsRequest {
  readonly topic: string;
  readonly partitions: readonly number[];
  readonly of: 'oldest' | 'newest';
}

/** By partition the oldest offset, or the one behind the newest committed message. */
export const LIST_OFFSETS: Api<OffsetsRequest, ReadonlyMap<number, number>> = {
  key: 2,
  version: 2,
  write: (writer, { topic, partitions, of }) =>
    writer
      .int32(NO_REPLICA)
      .int8(READ_COMMITTED)
      .list([topic], (name) =>
        writer.text(name).list(partitions, (index) => writer.int32(index).int64(of === 'oldest' ? -2n : -1n)),
      ),
  read(reader) {
    reader.skip(4);
    const topics = reader.list(() => {
      reader.text();
      return reader.list(() => {
        const index = reader.int32();
        throwIfError(reader.int16());
        reader.skip(8);
        return [index, Number(reader.int64())] as const;
      });
    });
    return new Map(topics.flat());
  },
};

interface FetchRequest {
  readonly topic: string;
  /** Milliseconds that a broker waits for messages. */
  readonly waitMs: number;
  /** Bytes of the answer; a larger batch comes alone. */
  readonly bytes: number;
  readonly partitions: readonly { readonly index: number; readonly offset: number }[];
}

export interface FetchedPartition {
  readonly index: number;
  /** Transactions that were taken back: their producers, and where each begins. */
  readonly aborted: readonly { readonly producer: bigint; readonly first: number }[];
  /** Batches, of which the last may be cut off; the first may begin before the offset. */
  readonly records: Buffer;
}

type FetchApi = Api<FetchRequest, readonly FetchedPartition[]>;

export const FETCH: FetchApi = {
  key: 1,
  version: 4,
  write: (writer, request) => writeFetch(writer, request, false),
  read: (reader) => readFetched(reader, false),
};

/** For brokers that take it: in answer to older versions they send no batches of Zstandard. */
export const FETCH_ZSTD: FetchApi = {
  key: 1,
  version: 11,
  write: (writer, request) => writeFetch(writer, request, true),
  read(reader) {
    return readFetched(reader, true);
  },
};

function writeFetch(writer: RequestWriter, request: FetchRequest, isNew: boolean): void {
  const { topic, waitMs, bytes, partitions } = request;
  writer.int32(NO_REPLICA).int32(waitMs).int32(1).int32(bytes).int8(READ_COMMITTED);
  // No session of fetches.
  if (isNew) writer.int32(0).int32(-1);
  writer.list([topic], (name) =>
    writer.text(name).list(partitions, ({ index, offset }) => {
      writer.int32(index);
      if (isNew) writer.int32(-1);
      writer.int64(BigInt(offset));
      if (isNew) writer.int64(-1n);
      writer.int32(bytes);
    }),
  );
  if (isNew) writer.int32(0).text('');
}

function readFetched(reader: AnswerReader, isNew: boolean): readonly FetchedPartition[] {
  reader.skip(4);
  if (isNew) {
    throwIfError(reader.int16());
    reader.skip(4);
  }
  const topics = reader.list(() => {
    reader.text();
    return reader.list((): FetchedPartition => {
      const index = reader.int32();
      throwIfError(reader.int16());
      reader.skip(isNew ? 24 : 16);
      const aborted = reader.list(() => ({ producer: reader.int64(), first: Number(reader.int64()) }));
      if (isNew) reader.skip(4);
      return { index, aborted, records: reader.bytes() };
    });
  });
  return topics.flat();
}

export const SASL_HANDSHAKE: Api<string, void> = {
  key: 17,
  version: 1,
  write: (writer, mechanism) => writer.text(mechanism),
  read: (reader) => throwIfError(reader.int16()),
};

export interface SaslAnswer {
  readonly bytes: Buffer;
  /** Milliseconds for which the credentials are good; 0: as long as the connection lasts. */
  readonly lifetimeMs: number;
}

export const SASL_AUTHENTICATE: Api<Buffer, SaslAnswer> = {
  key: 36,
  version: 1,
  write: (writer, bytes) => writer.bytes(bytes),
  read(reader) {
    throwIfError(reader.int16());
    reader.text();
    return { bytes: reader.bytes(), lifetimeMs: Number(reader.int64()) };
  },
};
