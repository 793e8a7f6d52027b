/** Copies of a request, made when it goes to its dispatcher. */

import { type Exchange, type RequestPart, RequestSlot } from '../../../kit.ts';
import type { Mirror } from './mirror.ts';

class MirroredRequest implements RequestPart {
  readonly owner = null;
  readonly stored = null;
  readonly tap = null;
  readonly logged = '';
  readonly #mirrors: { readonly mirror: Mirror; readonly path: string }[] = [];
  readonly #unfinished: (() => void)[] = [];

  add(mirror: Mirror, path: string): void {
    this.#mirrors.push({ mirror, path });
  }

  dispatched(exchange: Exchange): void {
    for (const { mirror, path } of this.#mirrors) {
      const giveUp = mirror.copy(exchange, path);
      if (giveUp !== null) this.#unfinished.push(giveUp);
    }
  }

  finished(): void {
    for (const giveUp of this.#unfinished) giveUp();
  }
}

const slot = new RequestSlot<MirroredRequest>();

/** Has a copy made when the request goes to its dispatcher. `path`: see `Mirror.copy`. */
export function copyAtDispatch(exchange: Exchange, mirror: Mirror, path: string): void {
  const part = slot.of(exchange) ?? new MirroredRequest();
  part.add(mirror, path);
  slot.set(exchange, part);
}
