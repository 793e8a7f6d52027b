/** Runs inspections: so many at once, owners in turn, each within its CPU time (docs/decisions.md#waf-engine). */
import {
  ChurningMap,
  type Exchange,
  FairQueue,
  Interrupted,
  isCpuExceeded,
  networkOf,
  type OwnerPath,
} from '../../kit.ts';
import type { RuleSet } from './rule-sets.ts';
import { readVerdict, type Verdict } from './verdict.ts';

/** Inspections under way; each takes a slice of CPU time at a time. */
const AT_ONCE = 4;
/** Of one network: hostile texts, which take as long as they may, leave room for others at once. */
const AT_ONCE_OF_NETWORK = 2;
const MOST_WAITING = 200;
const MOST_WAIT_MS = 10_000;

const OF_NETWORK = { atOnce: AT_ONCE_OF_NETWORK, mostWaiting: MOST_WAITING, mostMs: MOST_WAIT_MS };

/** An inspection did not come to its end: CPU time or memory was used up, or the engine has failed. */
export interface Unfinished {
  readonly unfinished: 'time' | 'arguments' | 'fault';
  readonly reason: string;
}

export class Inspections {
  readonly #queue = new FairQueue({ atOnce: AT_ONCE, mostWaiting: MOST_WAITING, mostMs: MOST_WAIT_MS });
  /** Inspections of a network, under way and waiting. */
  readonly #networks = new ChurningMap<string, { readonly queue: FairQueue; jobs: number }>();

  /** Rejects with Crowded, and with Interrupted if the client has gone. */
  run(
    set: Pick<RuleSet, 'inspect'>,
    frame: Uint8Array,
    exchange: Exchange,
    cpuMs: number,
  ): Promise<{ readonly verdict: Verdict | Unfinished; readonly cpuMs: number }> {
    const check = () => {
      if (exchange.closed) throw new Interrupted('the client has gone');
    };
    const owner = networkOf(exchange);
    const inspect = async () => {
      try {
        const result = await set.inspect(frame, { cpuMs, check });
        const verdict = readVerdict(result.bytes);
        return { verdict: unfinishedOf(verdict) ?? verdict, cpuMs: result.cpuMs };
      } catch (error) {
        if (error instanceof Interrupted) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        return {
          verdict: { unfinished: isCpuExceeded(error) ? ('time' as const) : ('fault' as const), reason },
          cpuMs,
        };
      }
    };
    return this.#ofNetwork(owner, () => this.#queue.run(owner, inspect));
  }

  async #ofNetwork<T>(owner: OwnerPath, work: () => Promise<T>): Promise<T> {
    const [network = ''] = owner;
    const own = this.#networks.get(network) ?? { queue: new FairQueue(OF_NETWORK), jobs: 0 };
    this.#networks.set(network, own);
    own.jobs++;
    try {
      return await own.queue.run(owner, work);
    } finally {
      if (--own.jobs === 0) this.#networks.delete(network);
    }
  }
}

/** An inspection that was cut off says so, whatever its rules had found by then; a refusal stands. */
function unfinishedOf({ outcome, limit, limitRule }: Verdict): Unfinished | null {
  if (limit === null || outcome === 'refused') return null;
  if (limit === 'arguments') return { unfinished: 'arguments', reason: 'it has too many arguments' };
  return { unfinished: 'time', reason: `too much work, in rule ${limitRule}` };
}
