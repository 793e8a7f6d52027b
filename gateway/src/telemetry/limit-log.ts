/** Says in the log that a limit which clients share was reached, seldom enough that a flood does not fill it. */
import { clientNetwork } from '../client-network.ts';
import type { Log } from './log.ts';
import type { CountedLimit, LimitOutcome } from './metric-table.ts';

/** Milliseconds between lines about one limit. */
const BETWEEN_MS = 10_000;

interface Told {
  refused: number;
  ended: number;
  /** Monotonic milliseconds. */
  toldAt: number;
}

export class LimitLog {
  readonly #log: Log;
  readonly #limits = new Map<CountedLimit, Told>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `address`: of the refused or ended owner. The first is logged at once; later ones with the next line. */
  yielded(limit: CountedLimit, outcome: LimitOutcome, address: string): void {
    const told = this.#limits.get(limit) ?? { refused: 0, ended: 0, toldAt: Number.NEGATIVE_INFINITY };
    this.#limits.set(limit, told);
    told[outcome]++;
    const now = performance.now();
    if (now - told.toldAt < BETWEEN_MS) return;
    const { refused, ended } = told;
    this.#limits.set(limit, { refused: 0, ended: 0, toldAt: now });
    const line = { limit, client: clientNetwork(address), refused, ended };
    this.#log.logger.warn(line, 'a limit that clients share was reached');
  }

  /** One client holds nearly all connections. */
  crowded = throttled((client: string, held: number) => {
    this.#log.logger.warn(
      { client, connections: held },
      'one address holds more than 80 % of --max-connections: behind NAT or with externalTrafficPolicy: Cluster many clients share it; name proxies with --trusted-proxies',
    );
  });
}

/** Calls at most once in so long. */
function throttled(call: (client: string, held: number) => void): (client: string, held: number) => void {
  let calledAt = Number.NEGATIVE_INFINITY;
  return (client, held) => {
    const now = performance.now();
    if (now - calledAt < 6 * BETWEEN_MS) return;
    calledAt = now;
    call(client, held);
  };
}
