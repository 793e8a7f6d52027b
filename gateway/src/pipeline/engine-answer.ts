/** The answer of a part of the host that stands for the dispatcher: whole, streamed, without an end, or a WebSocket. */
import {
  type AcceptedWebSocket,
  type Answer,
  CLIENT_CLOSED,
  type EngineResponse,
  type Exchange,
  type HeaderList,
  type OpenWebSocket,
  problemOf,
  type ResponseSink,
} from '../exchange.ts';
import { problem } from '../problems.ts';
import { StreamedResponse } from './streamed-response.ts';
import { WebSocketResponse } from './web-socket-response.ts';

const WANTS_WHOLE = 'A plugin of this operation needs whole response bodies, and a stream of events has no end.';

export class EngineAnswer extends StreamedResponse implements EngineResponse {
  async whole(answer: Answer): Promise<void> {
    const { exchange } = this;
    this.observeDispatch(null);
    exchange.answer = answer;
    exchange.decided(this.op.dispatcher.name);
    exchange.trace?.dispatched('answered', problemOf(answer));
    await this.answerInMemory(null);
  }

  /** The response ends with the client, or when the gateway stops. */
  async endless(exchange: Exchange, headers: HeaderList, begins: (sink: ResponseSink) => void): Promise<boolean> {
    const { run } = this;
    if (this.op.buffersResponse) {
      this.observeDispatch(null);
      await run.answer({ problem: problem('not-implemented', WANTS_WHOLE) });
      return false;
    }
    const sink = await this.head(exchange, 200, headers);
    if (sink === null) return false;
    if (exchange.closed) run.record(CLIENT_CLOSED, 0);
    else {
      run.goesOn(exchange.response.status);
      begins(sink);
    }
    return !exchange.closed;
  }

  async webSocket(
    _exchange: Exchange,
    stopping: () => void,
    begins: (opened: OpenWebSocket) => void,
  ): Promise<boolean> {
    this.observeDispatch(null);
    return new WebSocketResponse(this.run, this.releaseOperation()).open(stopping, begins);
  }

  async relay(exchange: Exchange, accepted: AcceptedWebSocket): Promise<boolean> {
    this.observeDispatch(exchange.handOff?.upstream ?? null);
    return new WebSocketResponse(this.run, this.releaseOperation()).relay(accepted);
  }
}
