/** Says once that something is away, and once that it is back. */

export type OutageLog = (level: 'info' | 'error', message: string) => void;

export class Outage {
  readonly #what: string;
  readonly #log: OutageLog;
  #since: number | null = null;

  /** `what`: for the log, such as `keys of https://issuer.example`. */
  constructor(what: string, log: OutageLog) {
    this.#what = what;
    this.#log = log;
  }

  failed(reason: string): void {
    if (this.#since !== null) return;
    this.#since = performance.now();
    this.#log('error', `${this.#what}: unavailable: ${reason}`);
  }

  succeeded(): void {
    if (this.#since === null) return;
    const seconds = Math.round((performance.now() - this.#since) / 1000);
    this.#since = null;
    this.#log('info', `${this.#what}: available again after ${seconds} s`);
  }
}
