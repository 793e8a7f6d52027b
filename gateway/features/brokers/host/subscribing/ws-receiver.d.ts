/** Declarations that web-socket-input.ts needs and the library's types leave out. */
import type { Writable } from 'node:stream';

declare module 'ws' {
  class Receiver extends Writable {
    constructor(options: { isServer: boolean; maxPayload: number; skipUTF8Validation: boolean });
    on(event: 'message' | 'ping', listener: (data: Buffer) => void): this;
    on(event: 'conclude', listener: (code: number) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'drain', listener: () => void): this;
  }
}
