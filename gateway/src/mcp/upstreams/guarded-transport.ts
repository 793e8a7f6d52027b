/** Reaches an upstream through the egress guard; its answers in memory count in the budget of the process. */

import { HttpCallError } from '../../egress/http-call-error.ts';
import type { HttpCaller } from '../../egress/http-client.ts';
import type { Exchange } from '../../exchange.ts';
import type { BufferBudget, Holding } from '../../memory/buffer-budget.ts';
import { holdFor } from '../../memory/request-holding.ts';
import type { McpTransport, SentRequest, StreamedAnswer } from '../client/transport.ts';

export interface GuardedCall {
  readonly url: string;
  /** Milliseconds for the head, and between pieces of the body. */
  readonly timeoutMs: number;
  /** The request that it is made for: its trace goes on in the call. Null without one. */
  readonly exchange: Exchange | null;
}

export class GuardedTransport implements McpTransport {
  readonly #http: HttpCaller;
  readonly #budget: BufferBudget;
  readonly #call: GuardedCall;
  #holding: Holding;

  constructor(http: HttpCaller, budget: BufferBudget, call: GuardedCall) {
    this.#http = http;
    this.#budget = budget;
    this.#call = call;
    this.#holding = this.#hold();
  }

  async send(request: SentRequest): Promise<StreamedAnswer> {
    const { body, ...stream } = await this.#http.open({ ...this.#call, ...request, shared: true });
    return {
      ...stream,
      body: this.#counted(body),
      consumed: () => {
        this.#holding.release();
        this.#holding = this.#hold();
      },
    };
  }

  /** All of its answers have left memory. */
  release(): void {
    this.#holding.release();
  }

  #hold(): Holding {
    return holdFor(this.#budget, this.#call.exchange ?? null);
  }

  async *#counted(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      if (!this.#holding.take(chunk.length)) {
        throw new HttpCallError('no-room', 'the gateway has reached its limit of bytes in memory');
      }
      yield chunk;
    }
  }
}
