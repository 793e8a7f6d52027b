/**
 * Informational responses (1xx) of an upstream on their way to the client, bounded by number and bytes
 * (docs/decisions.md#informational-bounded).
 */

import { InformationalLimit } from '../egress/informational-limit.ts';
import type { Informed } from '../egress/proxy.ts';
import type { Exchange, HeaderList } from '../exchange.ts';
import type { BufferBudget } from '../memory/buffer-budget.ts';
import { noRoomForResponse } from '../problems.ts';
import { HeldResponseBytes } from './held-response.ts';

export class InformationalResponses {
  readonly #exchange: Exchange;
  readonly #budget: BufferBudget;
  readonly #limit = new InformationalLimit();

  /** `budget`: of responses that are held. */
  constructor(exchange: Exchange, budget: BufferBudget) {
    this.#exchange = exchange;
    this.#budget = budget;
  }

  pass(status: number, headers: HeaderList): Informed {
    const exchange = this.#exchange;
    const bytes = headers.reduce((sum, text) => sum + text.length, 0);
    if (this.#limit.exceededBy(bytes)) return 'excess';
    if (exchange.closed || exchange.responder.inform === undefined) return 'passed';
    const held = new HeldResponseBytes(exchange, this.#budget);
    if (!held.take(bytes)) {
      held.release();
      return noRoomForResponse();
    }
    held.sent();
    exchange.responder.inform(exchange, status, headers, () => held.release());
    return 'passed';
  }
}
