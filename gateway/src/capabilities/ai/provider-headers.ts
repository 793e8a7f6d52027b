/** Headers of a provider's answer that a client gets: none that name the account, or that are cookies of the provider. */
import { type HeaderList, headerOf } from '../../exchange.ts';
import type { Warning } from './surfaces/surface.ts';

const PASSED = new Set(['retry-after', 'retry-after-ms', 'x-should-retry']);
const PREFIXES = ['x-ratelimit-', 'anthropic-ratelimit-'];

/** `type`: of the answer, unless it is `asItIs` and the provider says another. */
export function passedHeaders(headers: HeaderList, type: string, asItIs = false): HeaderList {
  const sent = asItIs ? headerOf(headers, 'content-type') : undefined;
  const passed = headers.filter((_, i) => isPassed(headers[i - (i % 2)] ?? ''));
  return ['content-type', sent ?? type, ...passed];
}

const TEXTS: Readonly<Record<Warning, string>> = {
  store: 'store is ignored: the gateway is stateless',
  reasoning: 'items of reasoning were left out: the provider does not take them',
};

/** RFC 7234, section 5.5.7. */
export function warningHeaders(warnings: readonly Warning[]): HeaderList {
  return warnings.flatMap((each) => ['warning', `299 gw "${TEXTS[each]}"`]);
}

function isPassed(name: string): boolean {
  return PASSED.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
