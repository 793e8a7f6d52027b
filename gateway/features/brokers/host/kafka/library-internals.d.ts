/**
 * Modules of the client library that its own types leave out: those that kafka-library.ts corrects, and those for
 * reading.
 */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
  }
}

declare module 'kafkajs/src/loggers/index.js' {
  const loggers: { createLogger(options: { level: number; logCreator: unknown }): unknown };
  export default loggers;
}

declare module 'kafkajs/src/cluster/index.js' {
  import type { KafkaMessage } from 'kafkajs';

  export interface FetchedPartition {
    readonly partition: number;
    readonly highWatermark: string;
    readonly messages: readonly FetchedMessage[];
  }

  export type FetchedMessage = Omit<KafkaMessage, 'headers'> & {
    readonly headers?: Readonly<Record<string, Buffer | readonly Buffer[] | undefined>>;
    /** Absent in the formats before record batches. */
    readonly batchContext?: { readonly firstOffset: string; readonly lastOffsetDelta: number };
  };

  export interface FetchRequest {
    readonly maxWaitTime: number;
    readonly minBytes: number;
    readonly maxBytes: number;
    readonly isolationLevel: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly {
        readonly partition: number;
        readonly fetchOffset: string;
        readonly maxBytes: number;
      }[];
    }[];
  }

  export interface Broker {
    fetch(
      request: FetchRequest,
    ): Promise<{ readonly responses: readonly { readonly partitions: FetchedPartition[] }[] }>;
  }

  export default class Cluster {
    constructor(options: object);
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    addTargetTopic(topic: string): Promise<void>;
    refreshMetadata(): Promise<void>;
    findBroker(options: { nodeId: string }): Promise<Broker>;
    findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number }[];
    findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, readonly number[]>;
    fetchTopicsOffset(
      topics: readonly {
        readonly topic: string;
        readonly partitions: readonly { readonly partition: number }[];
        readonly fromBeginning: boolean;
      }[],
    ): Promise<readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[]>;
  }
}

declare module 'kafkajs/src/consumer/batch.js' {
  import type { FetchedMessage, FetchedPartition } from 'kafkajs/src/cluster/index.js';

  export default class Batch {
    constructor(topic: string, fetchedOffset: string, partition: FetchedPartition);
    /** As brokers send them: batches may begin before the offset that was asked for. */
    readonly rawMessages: readonly FetchedMessage[];
    /** Without those of aborted transactions, and without control records. */
    readonly messages: readonly FetchedMessage[];
  }
}

declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net';

  export default class Connection {
    readonly socket: Socket;
    /** Chunks of an incomplete answer. */
    chunks: Buffer[];
    bytesBuffered: number;
    bytesNeeded: number;
    isConnected(): boolean;
    connect(): Promise<unknown>;
    processData(chunk: Buffer): void;
  }
}
