/** Events for clients, independent of their encoding. */
import { isUtf8 } from 'node:buffer';
import type { Gap, StreamMessage } from './topic-source.ts';

export interface ClientEvent {
  readonly event: 'message' | 'binary' | 'tombstone' | 'gap';
  readonly data: string;
  /** `data` is the text of a JSON object. */
  readonly isObject: boolean;
}

/** A way to write events. */
export interface Framing {
  /** `id`: position from which a client with it resumes; null without one. */
  write(event: ClientEvent, id: string | null): Buffer;
  /** Sent at the beginning: clients have the id as their last. */
  opening(id: string | null, retryMs: number): Buffer;
  /** Keeps the connection open; the id advances clients that got none of the messages. */
  heartbeat(id: string | null): Buffer;
}

export function eventOf(message: StreamMessage, withMetadata: boolean): ClientEvent {
  if (withMetadata) return { event: 'message', data: envelopeOf(message), isObject: true };
  const { payload } = message;
  if (payload === null) return { event: 'tombstone', data: '', isObject: false };
  if (!isUtf8(payload)) return { event: 'binary', data: payload.toString('base64'), isObject: false };
  return { event: 'message', data: payload.toString(), isObject: false };
}

/** Null: the lost range is unknown. */
export function gapOf(gap: Gap | null): ClientEvent {
  return { event: 'gap', data: JSON.stringify(gap ?? {}), isObject: true };
}

/** The message as a JSON object: a payload that is JSON as it is, other text as a string, the rest in base64. */
function envelopeOf({ payload, metadata }: StreamMessage): string {
  const head = JSON.stringify(metadata());
  return `${head.slice(0, -1)},${payloadOf(payload)}}`;
}

function payloadOf(payload: Buffer | null): string {
  if (payload === null) return '"encoding":"none","payload":null';
  if (!isUtf8(payload)) return `"encoding":"base64","payload":"${payload.toString('base64')}"`;
  const text = payload.toString();
  return isJson(text) ? `"encoding":"json","payload":${text}` : `"encoding":"text","payload":${JSON.stringify(text)}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
