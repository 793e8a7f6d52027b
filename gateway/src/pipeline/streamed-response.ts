/**
 * An answer whose body streams: validated, staged headers, response hooks, standard headers, body. The body is held
 * first if it is validated, or if a plugin wants it whole.
 */
import type { Writable } from 'node:stream';
import { CLIENT_CLOSED, changeHeader, type Exchange, type HeaderList, type ResponseSink } from '../exchange.ts';
import { noRoomForResponse, type Problem, problem } from '../problems.ts';
import { handled } from '../scheduling/awaitable.ts';
import { BodyTooLarge } from '../transport/body.ts';
import { pastLimit, tooLarge } from '../validation/read-body.ts';
import { HeldResponseBytes, holdResponse } from './held-response.ts';
import { OperationResponse } from './operation-response.ts';
import { applyStaged } from './response.ts';
import type { JudgedResponse } from './response-check.ts';
import { NO_WEB_SOCKET, wouldOpen } from './websocket.ts';

export class StreamedResponse extends OperationResponse implements JudgedResponse {
  /** The body is held, so that the upstream's end is not yet the response's. */
  #holds = false;
  #status = 0;
  #headers: HeaderList = [];

  head(exchange: Exchange, status: number, headers: HeaderList): ResponseSink | Promise<ResponseSink | null> {
    this.observeDispatch(exchange.handOff?.upstream ?? null);
    if (wouldOpen(exchange, status)) {
      return this.#answerInstead(problem('upstream-failed', NO_WEB_SOCKET));
    }
    this.#status = status;
    this.#headers = headers;
    return this.takeCheck()?.hold(exchange, status, headers, this) ?? this.open();
  }

  async #answerInstead(answer: Problem): Promise<null> {
    await this.run.answer({ problem: answer });
    return null;
  }

  done(exchange: Exchange, bytes: number): void {
    if (!this.#holds) this.run.record(exchange.response.status === 0 ? CLIENT_CLOSED : exchange.response.status, bytes);
    else if (exchange.closed) this.run.record(CLIENT_CLOSED, 0);
  }

  bodyFailed(_exchange: Exchange, error: Error): void {
    const { run } = this;
    if (!(error instanceof BodyTooLarge)) return run.record(CLIENT_CLOSED, 0);
    const { received, limit } = error;
    const { maxBodySize } = run.options.limits;
    handled(
      () =>
        limit === null
          ? run.refuse('body-size', tooLarge(received, maxBodySize))
          : run.answer({ problem: pastLimit(received, limit) }),
      (cause) => run.crashed(cause),
    );
  }

  failed(exchange: Exchange, answer: Problem, cause: string): void {
    const { run } = this;
    if (exchange.closed) return run.record(CLIENT_CLOSED, 0);
    run.options.recorder.upstreamFailed(exchange, cause);
    exchange.trace?.dispatched('failed', answer);
    run.answerLate({ problem: answer });
  }

  broken(exchange: Exchange, cause: string): void {
    // A held body was not sent, so the client can still get an answer.
    const brokeOff = problem('upstream-failed', 'The upstream ended its response prematurely.');
    if (!exchange.responder.headSent) return this.failed(exchange, brokeOff, cause);
    this.run.options.recorder.upstreamFailed(exchange, cause);
    this.run.cutOff(exchange.response.status);
  }

  // --- JudgedResponse

  /** Returns the sink for the body of a valid response. */
  open(): ResponseSink | Promise<ResponseSink | null> {
    const { exchange, run } = this;
    exchange.response.status = this.#status;
    exchange.response.headers = this.#headers;
    applyStaged(exchange);
    if (this.op.buffersResponse) return this.#hold();
    if (run.ran > 0 && this.op.responseHooks) return this.#hookThenStream();
    return this.stream();
  }

  holds(holding: boolean): void {
    this.#holds = holding;
  }

  sent(bytes: number): void {
    this.done(this.exchange, bytes);
  }

  async withheld(answer: Problem): Promise<void> {
    await this.run.answer({ problem: answer });
  }

  crashed(error: unknown): void {
    this.run.crashed(error);
  }

  /** Holds the whole body for a plugin that declared `response_body = "buffer"`, then goes on as for any answer. */
  #hold(): Writable {
    const { exchange, run } = this;
    this.#holds = true;
    const bytes = new HeldResponseBytes(exchange, run.options.responseBudget);
    return holdResponse({
      limit: run.options.maxBufferedResponse,
      bytes,
      whole: async (body) => {
        exchange.response.body = body;
        changeHeader(exchange.response.headers, 'remove', 'content-length', '');
        await run.runResponseHooks(this.op);
        // From here on the transport counts what waits for the client.
        bytes.release();
        run.send();
      },
      overflow: () => {
        this.failed(
          exchange,
          problem('upstream-failed', 'The upstream sent more than the gateway can hold in memory.'),
          'too large',
        );
        return Promise.resolve(null);
      },
      refused: async () => run.answer({ problem: noRoomForResponse() }),
      failed: (error) => run.crashed(error),
    });
  }

  async #hookThenStream(): Promise<ResponseSink | null> {
    const { run } = this;
    this.exchange.response.streams = true;
    if (!(await run.runResponseHooks(this.op))) return this.stream();
    this.#holds = true;
    run.send();
    return null;
  }
}
