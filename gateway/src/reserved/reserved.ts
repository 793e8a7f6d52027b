/** The gateway's own endpoints on the traffic port (reference 1, section 4.1). */
import type { Answer, Exchange } from '../exchange.ts';
import type { Generation } from '../generation.ts';
import { problem } from '../problems.ts';

export const RESERVED_PREFIX = '/__gw/';

export interface ReservedOptions {
  /** `--expose-health` (D23). */
  readonly exposeHealth: boolean;
}

export function reserved(x: Exchange, { health }: Generation, { exposeHealth }: ReservedOptions): Answer {
  if (x.path === '/__gw/health' && exposeHealth) {
    if (x.method !== 'GET' && x.method !== 'HEAD') {
      const detail = `${x.path} is read with GET.`;
      return { problem: problem('method-not-allowed', detail, { headers: ['allow', 'GET, HEAD'] }) };
    }
    return { status: 200, headers: ['content-type', 'application/json'], body: JSON.stringify(health) };
  }
  return { problem: problem('route-not-found', 'There is no such endpoint under /__gw/.') };
}
