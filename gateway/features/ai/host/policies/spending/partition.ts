/** `partition_key`: the requests that share a budget, as in rate-limit (docs/reference/plugins.md#rate-limit). */
import { hash } from 'node:crypto';
import { clientNetwork, type Exchange, joinedHeader } from '../../../../kit.ts';

export type Partition = (exchange: Exchange) => string;

/** Names of buckets have an end; values of headers are their senders'. */
const MOST_LENGTH = 128;

/** Throws if a name is missing. */
export function partitionOf(key: string): Partition {
  if (key === 'client_ip') return (exchange) => `ip=${clientNetwork(exchange.clientIp)}`;
  const [, kind, name] = /^(header|context):(.*)$/s.exec(key) ?? [];
  if (kind === undefined || name === undefined) return () => `static${lengthLimited(key)}`;
  const wanted = kind === 'header' ? name.trim().toLowerCase() : name;
  if (wanted === '') throw new Error('partition_key: a name must follow the colon');
  return (exchange) => {
    const value = kind === 'header' ? joinedHeader(exchange.headers, wanted) : exchange.context?.get(wanted);
    // All requests without one share a bucket.
    return value === undefined ? `${kind}:${wanted}` : `${kind}:${wanted}${lengthLimited(value)}`;
  };
}

/** A value that looks like the digest of a longer one is another value. */
function lengthLimited(value: string): string {
  return value.length <= MOST_LENGTH ? `=${value}` : `#${hash('sha256', value, 'base64url')}`;
}
