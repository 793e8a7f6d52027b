/** The circuit breakers of a config, one for each server that its calls go to. */

import { BoundedMap, CircuitBreaker } from '../../../kit.ts';

/** Servers of one config; those beyond it that were called longest ago are forgotten. */
const MAX_SERVERS = 100;

export class Breakers {
  readonly #byOrigin = new BoundedMap<CircuitBreaker>(MAX_SERVERS);

  /** `url` is absolute, or no URL: then the call is refused before it begins. */
  of(url: string): CircuitBreaker {
    const origin = URL.parse(url)?.origin ?? '';
    const known = this.#byOrigin.use(origin);
    if (known) return known;
    const breaker = new CircuitBreaker();
    this.#byOrigin.set(origin, breaker);
    return breaker;
  }
}
