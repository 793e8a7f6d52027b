/** The owner of a connection, or of a request on it, for shared limits (docs/decisions.md#shared-limits). */
import type { HeaderList } from '../exchange.ts';
import type { ClientAddress } from '../headers/client-ip.ts';

const FORWARDED = new Set(['x-forwarded-for', 'x-real-ip']);

/** The client behind a trusted proxy, by headers as they arrived. */
export function clientOfRaw(client: ClientAddress, peer: string, raw: HeaderList): string {
  const forwarded: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    if (FORWARDED.has(name)) forwarded.push(name, raw[i + 1] as string);
  }
  return client.of(peer, forwarded);
}
