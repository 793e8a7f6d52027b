/** What kafka-library.ts mends of the client library. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
  }
}

declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net';

  export default class Connection {
    readonly socket: Socket;
    /** Of an answer that has come in part. */
    chunks: Buffer[];
    bytesBuffered: number;
    bytesNeeded: number;
    isConnected(): boolean;
    connect(): Promise<unknown>;
    processData(chunk: Buffer): void;
  }
}
