/** Headers of a provider's answer that a client gets: none that name the account, or that are cookies of the provider. */
import { type HeaderList, headerOf } from '../../exchange.ts';

const PASSED = new Set(['retry-after', 'retry-after-ms', 'x-should-retry']);
const PREFIXES = ['x-ratelimit-', 'anthropic-ratelimit-'];

/** `type`: of the answer, unless it is `asItIs` and the provider says another. */
export function passedHeaders(headers: HeaderList, type: string, asItIs = false): HeaderList {
  const sent = asItIs ? headerOf(headers, 'content-type') : undefined;
  const passed = headers.filter((_, i) => isPassed(headers[i - (i % 2)] ?? ''));
  return ['content-type', sent ?? type, ...passed];
}

function isPassed(name: string): boolean {
  return PASSED.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
