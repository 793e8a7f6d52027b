/** A shared HTTP cache (RFC 9111) in the gateway; declare `host_cache_open`, `host_cache_lookup` and `host_cache_settle`. */
import * as host from "./host";
import { Text } from "./text";

/**
 * @example
 * const cache = Cache.open(text('{"ttl": 60}')); // in init
 * if (Cache.lookup(cache, EMPTY)) return ANSWERED;
 */
export namespace Cache {
  /** In `init`: opens a cache by its rules, JSON as ABI.md has them. */
  export function open(rules: Text): i32 {
    return host.host_cache_open(rules.ptr, rules.length);
  }

  /**
   * In `on_request`: reports whether the request is answered from the cache; return `ANSWERED` then. A response stored
   * in one partition is not used in others; the empty one is shared by everyone. May wait for another request that
   * fetches the same.
   */
  export function lookup(cache: i32, partition: Text): bool {
    return host.host_cache_lookup(cache, partition.ptr, partition.length) != 0;
  }

  /**
   * In `on_response`: stores the response if it is cacheable, as it passes, and drops those that an unsafe request has
   * changed. Reports whether a stored response takes its place; return `ANSWERED` then, and change no header of it.
   */
  export function settle(cache: i32): bool {
    return host.host_cache_settle(cache) != 0;
  }
}
