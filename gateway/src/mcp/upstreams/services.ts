/** Services of the process for upstream MCP servers. */
import type { BufferBudget } from '../../buffer-budget.ts';
import type { HttpCaller } from '../../egress/http-client.ts';

export interface UpstreamServices {
  /** Through the egress guard. */
  readonly http: HttpCaller;
  /** Of answers in memory. */
  readonly budget: BufferBudget;
  log(level: 'info' | 'warn', details: object, message: string): void;
  /** Counts a try to list what an upstream offers. */
  listed(upstream: string, succeeded: boolean): void;
}
