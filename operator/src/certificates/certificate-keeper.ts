/** Keeps the listener's certificate fresh: reads it at intervals, and reports changes. */
import { backoff, pause } from '../runtime/backoff.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';

export interface CertificateKeeperOptions {
  readonly source: CertificateSource;
  /** Called with the first certificate and with every new one. */
  readonly onChange: (certificate: ServingCertificate) => void;
  readonly onError: (error: unknown) => void;
}

const RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions;
  readonly #abort = new AbortController();
  #current: ServingCertificate | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
  }

  /** Returns the certificate that is served now. */
  get current(): ServingCertificate | undefined {
    return this.#current;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    const { source, onError } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#look();
        failures = 0;
      } catch (error) {
        onError(error);
        failures++;
      }
      const ordinary = source.everyMs * (0.9 + 0.2 * Math.random());
      await pause(failures > 0 ? backoff(failures, RETRY_MS, MAX_RETRY_MS) : ordinary, signal);
    }
  }

  async #look(): Promise<void> {
    const { source, onChange } = this.#options;
    const certificate = await source.read();
    if (!certificate || this.#abort.signal.aborted) return;
    const { cert, key, ca } = certificate;
    const before = this.#current;
    if (cert !== before?.cert || key !== before.key || ca !== before.ca) {
      this.#current = certificate;
      onChange(certificate);
    }
  }
}
