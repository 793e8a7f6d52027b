/** State of an observed request: its config. */
import { RequestSlot } from '../../../../src/capability/request-slot.ts';
import type { EndedRequest, Exchange, RequestPart } from '../../../../src/exchange.ts';
import type { Observation } from './observation.ts';

class ObservedRequest implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly #x: Exchange;
  readonly #observation: Observation;

  constructor(x: Exchange, observation: Observation) {
    this.#x = x;
    this.#observation = observation;
  }

  get logged(): string {
    const { values } = this;
    return values === null ? '' : `,"observed":${values}`;
  }

  get values(): string | null {
    return this.#observation.logged(this.#x);
  }

  spanAttributes(): Readonly<Record<string, string>> {
    return this.#observation.attributes(this.#x);
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
export function observe(x: Exchange, observation: Observation): void {
  slot.set(x, new ObservedRequest(x, observation));
}

/** Returns its fields for logs, as a JSON object; null if it is not observed, or has none of the fields. */
export function observedValues(x: Exchange): string | null {
  return slot.of(x)?.values ?? null;
}
