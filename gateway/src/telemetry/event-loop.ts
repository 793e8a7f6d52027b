/**
 * Watches how long the event loop is held up, and by which request: while it is, no other request goes on
 * (docs/observability.md#event-loop).
 */
import type { Exchange } from '../exchange.ts';
import { Cell } from './cell.ts';
import type { Log } from './log.ts';
import { DURATION_BUCKETS } from './metric-table.ts';

/** Milliseconds between two looks. */
const TICK_MS = 20;
/** Milliseconds of a delay that is logged. */
const LONG_MS = 100;
/** CPU milliseconds of the thread below which it was not the gateway that held up the loop, but the machine. */
const OWN_CPU_MS = 50;

/** Work on untrusted data. */
export type Phase = 'request' | 'parameters' | 'body' | 'plugin' | 'dispatch' | 'response' | 'message' | 'mcp';

interface Stretch {
  readonly exchange: Exchange;
  readonly phase: Phase;
  readonly ms: number;
}

export class EventLoopWatch {
  /** Seconds that each look came late. */
  readonly delay = new Cell(DURATION_BUCKETS);
  readonly #log: Pick<Log, 'logger'>;
  readonly #timer: NodeJS.Timeout;
  #tickedAt = performance.now();
  #cpu = process.threadCpuUsage();
  /** Current work, and its start. */
  #exchange: Exchange | null = null;
  #phase: Phase = 'request';
  #since = 0;
  /** The longest since the last look. */
  #longest: Stretch | null = null;

  constructor(log: Pick<Log, 'logger'>) {
    this.#log = log;
    this.#timer = setInterval(() => this.#look(), TICK_MS).unref();
  }

  /** From here on, until the next call, the thread works on this. Returns the time, in monotonic milliseconds. */
  enters(exchange: Exchange, phase: Phase): number {
    const now = performance.now();
    this.#ended(now);
    this.#exchange = exchange;
    this.#phase = phase;
    this.#since = now;
    return now;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#exchange = null;
    this.#longest = null;
  }

  #ended(now: number): void {
    if (this.#exchange === null) return;
    const ms = now - this.#since;
    if (ms > LONG_MS && ms > (this.#longest?.ms ?? 0))
      this.#longest = { exchange: this.#exchange, phase: this.#phase, ms };
  }

  #look(): void {
    const now = performance.now();
    const lateMs = now - this.#tickedAt - TICK_MS;
    this.delay.observe(Math.max(0, lateMs) / 1000);
    this.#ended(now);
    if (lateMs > LONG_MS) this.#report(lateMs);
    this.#tickedAt = now;
    this.#cpu = process.threadCpuUsage();
    this.#exchange = null;
    this.#longest = null;
  }

  #report(lateMs: number): void {
    const { user, system } = process.threadCpuUsage(this.#cpu);
    const cpuMs = Math.round((user + system) / 1000);
    const { exchange, phase } = this.#longest ?? { exchange: null, phase: undefined };
    const about = exchange && {
      request_id: exchange.requestId,
      trace_id: exchange.traceId,
      method: exchange.method,
      route: exchange.operation?.path ?? 'unmatched',
      phase,
    };
    const level = cpuMs < OWN_CPU_MS ? 'debug' : 'warn';
    this.#log.logger[level]({ ...about, delay_ms: Math.round(lateMs), cpu_ms: cpuMs }, HELD_UP);
  }
}

const HELD_UP = 'the event loop was held up';
