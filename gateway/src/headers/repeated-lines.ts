/**
 * Headers that come in several lines: joined to one value for all readers behind the gateway, or refused
 * (docs/decisions.md#one-reading; RFC 9110, section 5.3).
 */
import type { HeaderList } from '../exchange.ts';

/** Single-valued request headers: readers of several lines of one may take any of them. */
const SINGLE: ReadonlySet<string> = new Set([
  ...['host', 'content-type', 'content-length', 'content-location', 'content-range', 'authorization', 'user-agent'],
  ...[
    'proxy-authorization',
    'range',
    'if-range',
    'if-modified-since',
    'if-unmodified-since',
    'date',
    'from',
    'referer',
  ],
  ...['max-forwards', 'origin', 'access-control-request-method', 'sec-websocket-key', 'sec-websocket-version'],
  ...['idempotency-key', 'last-event-id', 'dpop'],
]);

/** Joins the lines of each header in place. The first name that may stand in one line only and does not, or null. */
export function joinRepeated(headers: HeaderList): string | null {
  const places = new Map<string, number>();
  let repeated: string | null = null;
  let kept = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    const place = places.get(name);
    if (place !== undefined) {
      headers[place] += `${name === 'cookie' ? '; ' : ', '}${value}`;
      if (SINGLE.has(name)) repeated ??= name;
      continue;
    }
    places.set(name, kept + 1);
    headers[kept++] = name;
    headers[kept++] = value;
  }
  headers.length = kept;
  return repeated;
}
