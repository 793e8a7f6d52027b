/** An answer that switches to WebSocket: of an upstream that has accepted the handshake, or of the gateway itself. */
import {
  type AcceptedWebSocket,
  CLIENT_CLOSED,
  type Exchange,
  type HeaderList,
  type OpenWebSocket,
} from '../exchange.ts';
import { addStandardHeaders } from '../headers/standard.ts';
import { acceptClient, refusalOf } from '../websocket/handshake.ts';
import type { LoadedOperation } from './generation.ts';
import { applyStaged } from './response.ts';
import type { ResponseRun } from './response-run.ts';
import { relayWebSocket } from './websocket.ts';

const SWITCHING_PROTOCOLS = 101;

export class WebSocketResponse {
  readonly #run: ResponseRun;
  readonly #op: LoadedOperation;
  readonly #exchange: Exchange;

  constructor(run: ResponseRun, op: LoadedOperation) {
    this.#run = run;
    this.#op = op;
    this.#exchange = run.exchange;
  }

  /** Answers the handshake for the gateway; see `EngineResponse.webSocket`. */
  async open(stopping: () => void, begins: (opened: OpenWebSocket) => void): Promise<boolean> {
    const exchange = this.#exchange;
    const run = this.#run;
    const refusal = refusalOf(exchange);
    if (refusal !== null) await run.answer({ problem: refusal });
    if (refusal !== null || !(await this.#switches([]))) return false;
    acceptClient(exchange, exchange.response.headers);
    const connection = exchange.responder.upgrade?.(exchange, exchange.response.headers, stopping) ?? null;
    if (connection === null) run.record(CLIENT_CLOSED, 0);
    else {
      run.goesOn(SWITCHING_PROTOCOLS);
      begins({ connection, figures: run.options.recorder.metrics.webSockets });
    }
    return connection !== null;
  }

  /** One of the response hooks that puts another answer in its place ends the upgrade. */
  async relay(accepted: AcceptedWebSocket): Promise<boolean> {
    const run = this.#run;
    const op = this.#op;
    if (!(await this.#switches(accepted.headers))) {
      accepted.connection.destroy();
      return false;
    }
    const { recorder, loop, responseBudget: budget } = run.options;
    const ended = (sent: number) => run.record(SWITCHING_PROTOCOLS, sent);
    const relayed = relayWebSocket(this.#exchange, accepted, { op, recorder, loop, budget }, ended);
    if (relayed) run.goesOn(SWITCHING_PROTOCOLS);
    else run.record(CLIENT_CLOSED, 0);
    return relayed;
  }

  /**
   * Response hooks see the answer as one without a body; resolves with false if the client has gone, or got another
   * answer.
   */
  async #switches(headers: HeaderList): Promise<boolean> {
    const exchange = this.#exchange;
    const run = this.#run;
    const op = this.#op;
    exchange.response.status = SWITCHING_PROTOCOLS;
    exchange.response.headers = headers;
    applyStaged(exchange);
    if (run.ran > 0 && op.responseHooks) await run.runResponseHooks(op);
    if (exchange.closed) run.record(CLIENT_CLOSED, 0);
    else if (exchange.response.status !== SWITCHING_PROTOCOLS) run.send();
    else {
      op.lifecycle?.addTo(exchange.response.headers);
      addStandardHeaders(exchange, exchange.response.headers);
      return true;
    }
    return false;
  }
}
