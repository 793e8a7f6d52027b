/** Messages that a data plane sends after its hello without waiting for `welcome`: handled once it is welcomed. */
import type { Heartbeat, Status } from '@gw/gateway/link-protocol';

export class EarlyMessages {
  #status: Status | null = null;
  /** Each heartbeat is answered; the last one counts. */
  #beats = 0;
  #beat: Heartbeat | null = null;

  /** Keeps at most one message of each type, in constant memory: the last status of a notice counts. */
  keep(message: Status | Heartbeat): void {
    if (message.type === 'status') {
      this.#status = message;
      return;
    }
    this.#beats++;
    this.#beat = message;
  }

  /** Returns the messages in order, once. */
  take(): readonly (Status | Heartbeat)[] {
    const beat = this.#beat;
    const beats = beat === null ? [] : Array.from({ length: this.#beats }, () => beat);
    const all = this.#status === null ? beats : [this.#status, ...beats];
    this.#status = null;
    this.#beats = 0;
    this.#beat = null;
    return all;
  }
}
