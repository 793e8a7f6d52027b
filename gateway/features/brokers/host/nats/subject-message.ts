/** Messages of NATS for event streams. */
import type { JsMsg } from '@nats-io/jetstream';
import type { Msg, MsgHdrs } from '@nats-io/nats-core';
import type { StreamMessage } from '../subscribing/topic-source.ts';

/** Converts a message of a server, which numbers none of them. */
export function messageOf({ subject, data, headers }: Msg): StreamMessage {
  return {
    partition: 0,
    offset: 0,
    key: null,
    payload: bytesOf(data),
    metadata: () => ({ subject, headers: headersOf(headers) }),
  };
}

/** Converts a message of a stream. */
export function streamMessageOf({ subject, data, headers, seq, time }: JsMsg): StreamMessage {
  return {
    partition: 0,
    offset: seq,
    key: null,
    payload: bytesOf(data),
    metadata: () => ({ subject, sequence: seq, timestamp: time.getTime(), headers: headersOf(headers) }),
  };
}

function bytesOf(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

/** The last of a name, as maps of headers have it. */
function headersOf(headers: MsgHdrs | undefined): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  for (const [name, values] of headers ?? []) found[name] = values.at(-1) ?? '';
  return found;
}
