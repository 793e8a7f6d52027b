/** A slot for a capability's state of a request, from one hook of its plugin to the next and to the end. */
import type { Exchange, RequestPart } from '../exchange.ts';

let places = 0;

/** Made once for each kind of part, at load: its place is the same in every request. */
export class RequestSlot<T extends RequestPart> {
  readonly #place = places++;

  of(exchange: Exchange): T | null {
    // Its place holds only values of this slot.
    return (exchange.parts?.[this.#place] ?? null) as T | null;
  }

  set(exchange: Exchange, part: T | null): void {
    exchange.parts ??= [];
    exchange.parts[this.#place] = part;
  }
}
