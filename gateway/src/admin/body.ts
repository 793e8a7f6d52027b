import type { Exchange } from '../exchange.ts';

/** The body of a request to the admin port; empty where it has more than `most` bytes, too many to be meant. */
export async function bodyOf({ bodyStream }: Exchange, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (bodyStream ?? []) as AsyncIterable<Uint8Array>) {
    if (bodyStream !== null && bodyStream.received > most) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
