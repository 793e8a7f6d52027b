/** A request whose connection switches to another protocol, or the answer that it gets instead. */
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { HeaderList } from '../exchange.ts';
import type { Holding } from '../memory/buffer-budget.ts';
import { headerList, type ParsedHeaders } from './call-headers.ts';
import { HttpCallError } from './http-call-error.ts';
import { responseHeaders, type UpstreamUpgrade } from './proxy-headers.ts';

/** A handshake with its headers already in the request. */
export type UpgradeHandshake = Pick<UpstreamUpgrade, 'protocol' | 'faultOf'>;

export type UpgradeAnswer =
  | { readonly status: 101; readonly headers: HeaderList; readonly connection: Duplex }
  | { readonly status: number; readonly headers: HeaderList; readonly body: Buffer };

/** Largest body of an answer that does not switch, in bytes; a larger one counts as a failure. */
const MAX_BODY = 1 << 20;
const SWITCHES = 101;

export class UpgradeCall implements Dispatcher.DispatchHandler {
  readonly #handshake: UpgradeHandshake;
  readonly #holding: Holding;
  readonly #signal: AbortSignal;
  readonly #answered = Promise.withResolvers<UpgradeAnswer>();
  #status = 0;
  #headers: HeaderList = [];
  #body: Buffer[] = [];
  #bytes = 0;

  /** `holding`: of the body of an answer that does not switch, which the caller releases. */
  constructor(handshake: UpgradeHandshake, holding: Holding, signal: AbortSignal) {
    this.#handshake = handshake;
    this.#holding = holding;
    this.#signal = signal;
  }

  async run(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions): Promise<UpgradeAnswer> {
    const { promise, reject } = this.#answered;
    const givenUp = () => reject(this.#signal.reason);
    if (this.#signal.aborted) givenUp();
    else {
      this.#signal.addEventListener('abort', givenUp, { once: true });
      dispatcher.dispatch({ ...request, upgrade: this.#handshake.protocol }, this);
    }
    try {
      return await promise;
    } finally {
      this.#signal.removeEventListener('abort', givenUp);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#signal.aborted) controller.abort(this.#signal.reason);
    else this.#signal.addEventListener('abort', () => controller.abort(this.#signal.reason), { once: true });
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    status: number,
    parsed: ParsedHeaders,
    connection: Duplex,
  ): void {
    // Other listeners are gone.
    connection.on('error', () => {});
    const headers = responseHeaders(headerList(parsed));
    const fault = this.#handshake.faultOf(status, headers, String(parsed['upgrade']));
    if (fault === null && !this.#signal.aborted) {
      return this.#answered.resolve({ status: SWITCHES, headers, connection });
    }
    connection.destroy();
    this.#answered.reject(new HttpCallError('failed', `its answer is not valid: ${fault}`));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, parsed: ParsedHeaders): void {
    if (status === SWITCHES) {
      return controller.abort(new HttpCallError('failed', 'its answer switches to no protocol that was asked for'));
    }
    if (status < 200) return;
    this.#status = status;
    this.#headers = responseHeaders(headerList(parsed));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BODY) {
      controller.abort(new HttpCallError('too-large', `its answer has more than ${MAX_BODY} bytes`));
    } else if (this.#holding.take(chunk.length)) this.#body.push(chunk);
    else controller.abort(new HttpCallError('no-room', 'the gateway has reached its limit of bytes in memory'));
  }

  onResponseEnd(): void {
    this.#answered.resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#body) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#answered.reject(error);
  }
}
