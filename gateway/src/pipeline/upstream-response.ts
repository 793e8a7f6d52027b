/** The answer of an HTTP upstream, in the order in which it comes. */
import type { Duplex } from 'node:stream';
import type { Informed, ProxyEvents } from '../egress/proxy.ts';
import type { Exchange, HeaderList } from '../exchange.ts';
import type { Problem } from '../problems.ts';
import { InformationalResponses } from './informational.ts';
import { StreamedResponse } from './streamed-response.ts';
import { WebSocketResponse } from './web-socket-response.ts';

export class UpstreamResponse extends StreamedResponse implements ProxyEvents {
  #informational: InformationalResponses | null = null;

  informational(exchange: Exchange, status: number, headers: HeaderList): Informed {
    this.#informational ??= new InformationalResponses(exchange, this.run.options.responseBudget);
    return this.#informational.pass(status, headers);
  }

  refused(_exchange: Exchange, answer: Problem): void {
    this.run.answerLate({ problem: answer });
  }

  upgraded(exchange: Exchange, headers: HeaderList, connection: Duplex): void {
    const limits = exchange.handOff?.webSocket;
    if (limits === undefined) throw new Error('an upstream has switched to what nobody asked for');
    this.observeDispatch(exchange.handOff?.upstream ?? null);
    new WebSocketResponse(this.run, this.releaseOperation())
      .relay({ headers, connection, limits })
      .catch((error: unknown) => {
        connection.destroy();
        this.run.crashed(error);
      });
  }
}
