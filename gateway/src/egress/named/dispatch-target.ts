/** Where requests are handed off to. */
import type { Exchange } from '../../exchange.ts';
import type { Upstream } from '../../hand-off.ts';
import type { Problem } from '../../problems.ts';

/** A URL, or a named upstream with its addresses. */
export interface DispatchTarget<Server> extends Upstream {
  /**
   * Returns the server for a request, whose circuit has admitted it: an outcome must be recorded there. Null if no circuit
   * admits it. `failed`: could not be reached for this request.
   */
  choose(exchange: Exchange, failed?: Server): Server | null;
  /** Returns the answer to a request that no circuit admits. */
  unavailable(exchange: Exchange): Problem;
}
