/** The answer to a request that was dispatched, so that its operation is known. Each kind of answer extends it. */
import type { Exchange, ResponseSink } from '../exchange.ts';
import type { HandOff } from '../hand-off.ts';
import type { Problem } from '../problems.ts';
import { type Awaitable, after } from '../scheduling/awaitable.ts';
import type { LoadedOperation } from './generation.ts';
import type { ResponseCheck } from './response-check.ts';
import type { ResponseRun } from './response-run.ts';

export class OperationResponse {
  protected readonly run: ResponseRun;
  protected readonly exchange: Exchange;
  /** Null once the response is under way: it may last longer than the generation. */
  #op: LoadedOperation | null;
  /** Null if responses of the operation are not validated, and once the answer has been. */
  #check: ResponseCheck | null;
  /** Milliseconds, on the monotonic clock. */
  readonly #dispatchedAt: number;

  constructor(run: ResponseRun, op: LoadedOperation, check: ResponseCheck | null, dispatchedAt: number) {
    this.run = run;
    this.exchange = run.exchange;
    this.#op = op;
    this.#check = check;
    this.#dispatchedAt = dispatchedAt;
  }

  protected get op(): LoadedOperation {
    if (this.#op === null) throw new Error('the response is under way, and has released its operation');
    return this.#op;
  }

  /** Sends the head of a streaming response; returns the sink for its body. */
  protected stream(): ResponseSink {
    return this.run.stream(this.releaseOperation());
  }

  /** Returns the operation for the last step that needs it. */
  protected releaseOperation(): LoadedOperation {
    const { op } = this;
    this.#op = null;
    return op;
  }

  /** Observes how long the dispatcher took, or the upstream that it handed the request to. */
  observeDispatch(upstream: HandOff['upstream'] | null): void {
    const took = performance.now() - this.#dispatchedAt;
    this.exchange.outcome.dispatchMs = took;
    this.op.dispatchTime(upstream).observe(took / 1000);
  }

  /**
   * Sends the answer in memory that the dispatcher or an engine has made. `refused`: the problem to send in its place,
   * if there is one already.
   */
  answerInMemory(refused: Problem | null): Awaitable<void> {
    const { exchange } = this;
    const judged = refused ?? this.takeCheck()?.answer(exchange, exchange.answer) ?? null;
    return after(judged, (instead) => {
      if (instead) exchange.decided(null);
      return this.run.answer(instead ? { problem: instead } : exchange.answer);
    });
  }

  /** Validation runs once; the response does not keep it, since it belongs to the generation. */
  protected takeCheck(): ResponseCheck | null {
    const check = this.#check;
    this.#check = null;
    return check;
  }
}
