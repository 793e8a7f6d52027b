/** Response validation in a request's life: holds, reports and withholds responses. */
import type { Writable } from 'node:stream';
import { type Answer, changeHeader, type Exchange, type HeaderList, type ResponseSink } from '../exchange.ts';
import type { BufferBudget } from '../memory/buffer-budget.ts';
import { noRoomForResponse, type Problem, type ProblemError, problem } from '../problems.ts';
import type { EventLoopWatch } from '../telemetry/event-loop.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { ResponseValidator } from '../validation/response.ts';
import { HeldResponseBytes, holdResponse } from './held-response.ts';

/** Continues with an upstream's response once it is judged. */
export interface JudgedResponse {
  /** Sends the head on; null if a response hook answered instead. */
  open(): ResponseSink | Promise<ResponseSink | null>;
  /** Reports whether the body is held, so that its end is not yet the response's. */
  holds(holding: boolean): void;
  /** The body has gone to the sink of `open`. */
  sent(bytes: number): void;
  withheld(answer: Problem): Promise<void>;
  crashed(error: unknown): void;
}

const NO_BODY = new Uint8Array(0);

export class ResponseCheck {
  readonly #validator: ResponseValidator;
  readonly #recorder: Recorder;
  readonly #loop: EventLoopWatch;
  readonly #budget: BufferBudget;

  /**
   * Created before the request goes on: an encoded answer could not be validated, so the request must not ask for one.
   */
  constructor(
    validator: ResponseValidator,
    { recorder, loop }: { readonly recorder: Recorder; readonly loop: EventLoopWatch },
    exchange: Exchange,
    budget: BufferBudget,
  ) {
    this.#budget = budget;
    this.#validator = validator;
    this.#recorder = recorder;
    this.#loop = loop;
    changeHeader(exchange.headers, 'set', 'accept-encoding', 'identity');
    // A part of an answer, and JSON in another charset, would pass unvalidated.
    for (const name of ['range', 'if-range', 'accept-charset']) changeHeader(exchange.headers, 'remove', name, '');
  }

  /** Checks an answer that a dispatcher made itself; returns the problem to send in its place. */
  answer(exchange: Exchange, answer: Answer | null): Problem | null | Promise<Problem | null> {
    if (answer === null || 'problem' in answer || answer.body === null) return null;
    const headers = [...(answer.headers ?? [])];
    // A dispatcher stages the headers of its answer, as any plugin does.
    for (const { op, name, value } of exchange.response.staged ?? []) changeHeader(headers, op, name, value);
    const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
    if (this.#skips(exchange, answer.status, headers)) return null;
    return this.#judge(exchange, answer.status, headers, body);
  }

  /** Returns the sink in which an upstream's body is judged; null if it is not. */
  hold(exchange: Exchange, status: number, headers: HeaderList, then: JudgedResponse): Writable | null {
    if (this.#skips(exchange, status, headers)) return null;
    then.holds(true);
    const isRefused = this.#validator.withholds && this.#validator.isUndeclared(status, headers);
    const bytes = new HeldResponseBytes(exchange, this.#budget);
    return holdResponse({
      // A response refused for its head alone is not awaited.
      limit: isRefused ? 0 : this.#validator.limit,
      bytes,
      whole: async (body) => {
        const judged = this.#judge(exchange, status, headers, body);
        const refused = judged instanceof Promise ? await judged : judged;
        if (refused) return then.withheld(refused);
        then.holds(false);
        const sink = await then.open();
        if (sink === null) return;
        send(sink, body, bytes);
        then.sent(body.length);
      },
      overflow: async () => {
        const refused = isRefused ? await this.#judge(exchange, status, headers, NO_BODY) : null;
        if (refused) {
          await then.withheld(refused);
          return null;
        }
        this.#recorder.responseNotValidated(exchange, 'its body is too large to be held');
        then.holds(false);
        return then.open();
      },
      refused: () => then.withheld(noRoomForResponse()),
      failed: (error) => then.crashed(error),
    });
  }

  #skips(exchange: Exchange, status: number, headers: HeaderList): boolean {
    const why = this.#validator.skips(exchange.method, status, headers);
    if (why !== null) this.#recorder.responseNotValidated(exchange, why);
    return why !== null;
  }

  #judge(
    exchange: Exchange,
    status: number,
    headers: HeaderList,
    body: Uint8Array,
  ): Problem | null | Promise<Problem | null> {
    const span = exchange.trace?.child('validate response');
    const then = (errors: readonly ProblemError[] | null): Problem | null => {
      if (span) exchange.trace?.ended(span, errors ? 'refused' : 'valid');
      if (!errors) return null;
      const withheld = this.#validator.withholds;
      this.#recorder.responseInvalid(exchange, { status, errors, withheld });
      if (!withheld) return null;
      const detail = 'The response does not match the API description, and is withheld.';
      return problem('response-invalid', detail, { errors });
    };
    // The upstream decides the cost of its response, so the request does not count as authenticated.
    const asker = { clientIp: exchange.clientIp, authenticated: false, wanted: () => !exchange.closed };
    this.#loop.enters(exchange, 'response');
    const errors = this.#validator.errors(status, headers, body, asker);
    return errors instanceof Promise ? errors.then(then) : then(errors);
  }
}

/** From here on who takes the body whole counts it; what changes or copies it on its way does not. */
function send(sink: ResponseSink, body: Buffer, bytes: HeldResponseBytes): void {
  if (sink.endWith === undefined) {
    sink.end(body);
    bytes.sent();
  } else {
    bytes.release();
    sink.endWith(body);
  }
}
