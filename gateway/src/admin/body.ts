import type { Exchange } from '../exchange.ts';
import { parseTextOnce } from '../json/parse-once.ts';
import { isObject } from '../spec/json.ts';
import { ByteCollector } from '../streams/byte-collector.ts';

/** Returns the body of a request to the admin port; empty if it is longer than `most` bytes. */
export async function bodyOf({ bodyStream }: Exchange, most: number): Promise<string> {
  const collected = new ByteCollector();
  for await (const chunk of (bodyStream ?? []) as AsyncIterable<Uint8Array>) {
    if (bodyStream !== null && bodyStream.received > most) return '';
    collected.add(chunk);
  }
  return collected.takeWhole().toString();
}

/** Bytes of a body of one member. */
const MOST_BODY = 1024;

/** Returns the member of the body's JSON object; undefined if it is absent, or the body is malformed. */
export async function memberOf(exchange: Exchange, name: string): Promise<unknown> {
  const text = await bodyOf(exchange, MOST_BODY);
  try {
    const value: unknown = parseTextOnce(text);
    return isObject(value) ? value[name] : undefined;
  } catch {
    return undefined;
  }
}
