/** Services of the process for upstream MCP servers. */

import type { HttpCaller } from '../../egress/http-client.ts';
import type { BufferBudget } from '../../memory/buffer-budget.ts';

export interface UpstreamServices {
  /** Through the egress guard. */
  readonly http: HttpCaller;
  /** Budget of answers in memory. */
  readonly budget: BufferBudget;
  log(level: 'info' | 'warn', details: object, message: string): void;
  /** Counts an attempt to list an upstream's entries. */
  listed(upstream: string, succeeded: boolean): void;
}
