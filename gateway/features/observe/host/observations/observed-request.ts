/** State of an observed request: its config. */

import { type EndedRequest, type Exchange, type RequestPart, RequestSlot } from '../../../kit.ts';
import type { Observation } from './observation.ts';

class ObservedRequest implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #exchange: Exchange;
  readonly #observation: Observation;

  constructor(exchange: Exchange, observation: Observation) {
    this.#exchange = exchange;
    this.#observation = observation;
  }

  get logged(): string {
    const { values } = this;
    return values === null ? '' : `,"observed":${values}`;
  }

  get values(): string | null {
    return this.#observation.logged(this.#exchange);
  }

  spanAttributes(): Readonly<Record<string, string>> {
    return this.#observation.attributes(this.#exchange);
  }

  unlogged(ended: EndedRequest): boolean {
    return this.#observation.leavesOut(ended);
  }

  finished(ended: EndedRequest): void {
    this.#observation.count(ended);
  }
}

const slot = new RequestSlot<ObservedRequest>();

/** Of several observations of a request the last one applies, so that an operation's config replaces one for all. */
export function observe(exchange: Exchange, observation: Observation): void {
  slot.set(exchange, new ObservedRequest(exchange, observation));
}

/** Returns its fields for logs, as a JSON object; null if it is not observed, or has none of the fields. */
export function observedValues(exchange: Exchange): string | null {
  return slot.of(exchange)?.values ?? null;
}
