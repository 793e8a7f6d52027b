/** `host_cache_*`: responses that are stored as they pass, and answered from the store (RFC 9111). */

import { type Call, type CounterInfo, capability, HostCallError, onlyIn } from '../../kit.ts';
import { ResponseCache } from './response-cache.ts';
import type { Maybe } from './response-store.ts';

/** Cost of the key beyond its length, in instructions. */
const DIGEST = 3_000;
/** The time for which a request waits for another's fetch, and the store's own time-outs, are shorter. */
const DEADLINE_MS = 300_000;
const MOST_CACHES = 16;

const REQUESTS: CounterInfo = {
  help: 'Requests that a cache plugin has seen',
  labels: {
    cache:
      '`hit`, or why the upstream was asked, as `Cache-Status` has it: `uri-miss`, `vary-miss`, `stale`, `request`, `method`, `bypass`',
  },
};

export const cache = capability({
  metrics: { gw_cache_requests_total: REQUESTS },
  open: ({ state, counter }) => ({ store: state.cache, requests: counter('gw_cache_requests_total', REQUESTS) }),
  /** Caches that `init` has opened. */
  bind: (): ResponseCache[] => [],
  functions: {
    host_cache_open: {
      signature: 'ii:i',
      parameters: '(rules, len) -> cache',
      meaning:
        "in `init`: a shared HTTP cache (RFC 9111) with rules: JSON in the form of the [cache plugin](../features/cache/plugins/cache/README.md)'s config; unusable rules reject the config",
      declared: true,
      make:
        (call, { loaded, bound }) =>
        (rules, length) => {
          onlyIn(call, 'init', 'host_cache_open');
          const { services, name } = call.binding;
          const caches = bound();
          if (caches.length >= MOST_CACHES) throw new HostCallError('host_cache_open: too many caches');
          const cache = new ResponseCache(call.memory.text(rules, length), {
            store: loaded.store,
            count: (result) => loaded.requests.count(result),
            log: (message) => services.log('error', name, message, null),
          });
          return caches.push(cache) - 1;
        },
    },
    host_cache_lookup: {
      signature: 'iii:i',
      parameters: '(cache, partition, len) -> answered',
      meaning:
        "in `on_request`. 1: a stored response is the response; 0: the request continues, after waiting for another request's fetch of the same response. Responses stored in one partition are invisible in all others; the empty partition is shared by everyone",
      waits: true,
      declared: true,
      make:
        (call, { bound }) =>
        (handle, partition, length) => {
          if (call.hook !== 'on_request')
            throw new HostCallError(`host_cache_lookup is for on_request, not ${call.hook}`);
          const exchange = call.request();
          call.burn(DIGEST);
          call.charge(length + exchange.target.length);
          const cache = cacheAt(bound(), handle);
          return answered(call, cache.lookup(exchange, call.binding.owner, call.memory.text(partition, length)));
        },
    },
    host_cache_settle: {
      signature: 'i:i',
      parameters: '(cache) -> answered',
      meaning:
        'in `on_response`, always: stores the response if it may be stored, its body as it passes, and invalidates what an unsafe request has changed. 1: a stored response has replaced it; do not change its headers in this call',
      waits: true,
      declared: true,
      make:
        (call, { bound }) =>
        (handle) =>
          answered(call, cacheAt(bound(), handle).settle(call.answeredRequest())),
    },
  },
});

function cacheAt(caches: readonly ResponseCache[], handle: number): ResponseCache {
  const cache = caches[handle];
  if (cache === undefined) throw new HostCallError(`there is no cache ${handle}`);
  return cache;
}

/** Returns 1 if the cache has made the answer. */
function answered(call: Call, result: Maybe<boolean>): number | Promise<number> {
  const tell = (has: boolean): number => {
    if (has) call.responded = true;
    return has ? 1 : 0;
  };
  return result instanceof Promise ? call.wait(result, DEADLINE_MS, tell) : tell(result);
}
