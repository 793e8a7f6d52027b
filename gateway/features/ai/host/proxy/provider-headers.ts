/**
 * Headers of a provider's answer for clients: without those that name the account, and without cookies of the provider.
 */

import { type HeaderList, headerOf, retryAfterMs } from '../../../kit.ts';
import type { Warning } from './surfaces/surface.ts';

/** Headers that clients act on, passed on if valid. */
const READ: Readonly<Record<string, (value: string) => string | null>> = {
  'retry-after': (value) => secondsOf(retryAfterMs(value)),
  'retry-after-ms': (value) => (/^\d{1,8}(\.\d{1,9})?$/.test(value) ? value : null),
  'x-should-retry': (value) => (/^(true|false)$/.test(value) ? value : null),
};
const PREFIXES = ['x-ratelimit-', 'anthropic-ratelimit-'];

/** `type`: of the answer, unless it is `asItIs` and the provider says another. */
export function passedHeaders(headers: HeaderList, type: string, asItIs = false): HeaderList {
  const sent = asItIs ? headerOf(headers, 'content-type') : undefined;
  const passed = headers.flatMap((name, i) => {
    const value = i % 2 === 0 ? passedValue(name, headers[i + 1] ?? '') : null;
    return value === null ? [] : [name, value];
  });
  return ['content-type', sent ?? type, ...passed];
}

/** The same headers with this time to wait, in seconds. */
export function withRetryAfter(headers: HeaderList, seconds: number): HeaderList {
  const others = headers.filter((_, i) => !/^retry-after(-ms)?$/.test(headers[i - (i % 2)] ?? ''));
  return [...others, 'retry-after', String(seconds)];
}

/** Seconds, for `Retry-After`. */
function secondsOf(ms: number | null): string | null {
  return ms === null ? null : String(Math.ceil(ms / 1000));
}

const TEXTS: Readonly<Record<Warning, string>> = {
  store: 'store is ignored: the gateway is stateless',
  effort: 'the effort was left out: the model does not take it',
  cache: 'cache_control was left out: the provider has no such marks',
  reasoning: 'items of reasoning were left out: the provider does not take them',
};

/** RFC 7234, section 5.5.7. */
export function warningHeaders(warnings: readonly Warning[]): HeaderList {
  return warnings.flatMap((each) => ['warning', `299 gw "${TEXTS[each]}"`]);
}

/** Returns null if a client does not get it. */
function passedValue(name: string, value: string): string | null {
  const read = Object.hasOwn(READ, name) ? READ[name] : undefined;
  if (read) return read(value);
  return PREFIXES.some((prefix) => name.startsWith(prefix)) ? value : null;
}
