/** Messages as server-sent events (HTML, section 9.2). */
import { isUtf8 } from 'node:buffer';
import type { Gap, StreamMessage } from './topic-source.ts';

const LINE_BREAK = /\r\n|\r|\n/;

/** `id`: where a client that has it goes on; null where there is none. */
export function eventOf(message: StreamMessage, id: string | null, withMetadata: boolean): string {
  if (withMetadata) return lines('', id, envelopeOf(message));
  const { payload } = message;
  if (payload === null) return lines('tombstone', id, '');
  if (!isUtf8(payload)) return lines('binary', id, payload.toString('base64'));
  return lines('', id, payload.toString());
}

export function gapOf(gap: Gap | null, id: string | null): string {
  return lines('gap', id, gap === null ? '{}' : JSON.stringify(gap));
}

/** Sent at the beginning: clients have it as their last, with no event. */
export function openingOf(id: string | null, retryMs: number): string {
  return `retry: ${retryMs}\n${idLine(id)}\n`;
}

/** A comment keeps the connection open, and the id moves clients on that got none of the messages. */
export function heartbeatOf(id: string | null): string {
  return `:\n${idLine(id)}\n`;
}

function lines(event: string, id: string | null, text: string): string {
  const name = event === '' ? '' : `event: ${event}\n`;
  const data = LINE_BREAK.test(text) ? text.split(LINE_BREAK).join('\ndata: ') : text;
  return `${name}${idLine(id)}data: ${data}\n\n`;
}

function idLine(id: string | null): string {
  return id === null ? '' : `id: ${id}\n`;
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
