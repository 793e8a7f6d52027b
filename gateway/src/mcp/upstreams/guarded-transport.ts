/** Reaches an upstream through the egress guard; what is in memory of its answers counts in the budget of the process. */
import type { Holding } from '../../buffer-budget.ts';
import { HttpCallError, type HttpCaller } from '../../egress/http-client.ts';
import type { Exchange } from '../../exchange.ts';
import type { McpTransport } from '../client/transport.ts';

export interface GuardedCall {
  readonly url: string;
  /** Milliseconds for the head, and between pieces of the body. */
  readonly timeoutMs: number;
  /** The request that it is made for: its trace goes on in the call. Null: there is none. */
  readonly exchange: Exchange | null;
  /** Where bytes of answers count; released by whoever made it. */
  readonly holding: Holding;
}

export function guardedTransport(http: HttpCaller, { url, timeoutMs, exchange, holding }: GuardedCall): McpTransport {
  return {
    async send({ method, headers, body, signal }) {
      const stream = await http.open({ method, url, headers, body, timeoutMs, exchange, signal, shared: true });
      return { ...stream, body: counted(stream.body, holding) };
    },
  };
}

async function* counted(body: AsyncIterable<Uint8Array>, holding: Holding): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    if (!holding.take(chunk.length)) {
      throw new HttpCallError('no-room', 'the gateway has reached its limit of bytes in memory');
    }
    yield chunk;
  }
}
