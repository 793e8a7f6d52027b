/** Maintains webhook configurations and paths: at intervals, and at once on request. */
import { messageOf } from '@gw/gateway/message-of';
import type { ApiServer } from '../runtime/api-server.ts';
import { backoff, pause } from '../runtime/backoff.ts';
import { type Published, publish, type WebhookConfigurations } from './configurations.ts';
import { FIXED_PATH, published, type Webhook, type WebhookPaths, webhookAt } from './webhook-paths.ts';

export interface RegistrationOptions {
  readonly api: ApiServer;
  readonly names: WebhookConfigurations;
  /** The paths, as all replicas have them. */
  readonly paths: () => Promise<WebhookPaths>;
  /** Returns the PEM of the authorities to trust; undefined until there is one, and if another program writes them. */
  readonly ca: () => string | undefined;
  readonly onError: (error: unknown) => void;
  readonly now?: () => number;
}

/** Far below the time in which a new path spreads. */
const EVERY_MS = 30_000;
const RETRY_MS = 1000;

export class WebhookRegistration {
  readonly #options: RegistrationOptions;
  readonly #closed = new AbortController();
  #wake = new AbortController();
  #paths: WebhookPaths | undefined;
  #wanted: Published | undefined;
  #drift: string | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  /**
   * Returns why API servers may call another address, so that objects and pods pass unseen; undefined if they do not.
   */
  get drift(): string | undefined {
    return this.#drift;
  }

  /** Reports whether paths are known, so that they can be answered. */
  get known(): boolean {
    return this.#paths !== undefined;
  }

  /** Returns the webhook at the path of a request. */
  webhookAt(pathname: string): Webhook | undefined {
    return this.#paths && webhookAt(pathname, this.#paths, this.#now());
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Publishes at once, after a change. */
  look(): void {
    this.#wake.abort();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    let failures = 0;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      try {
        await this.#look();
        failures = 0;
      } catch (error) {
        failures++;
        if (this.#paths)
          this.#drift = 'the webhook configurations cannot be kept up to date: see the log of the operator';
        if (!signal.aborted) this.#options.onError(this.#redacted(error));
      }
      const ms = failures > 0 ? backoff(failures, RETRY_MS, EVERY_MS) : EVERY_MS * (0.9 + 0.2 * Math.random());
      await pause(ms, AbortSignal.any([signal, this.#wake.signal]));
    }
  }

  /** Hides the paths in an error: API servers repeat refused content, and the path is a secret. */
  #redacted(error: unknown): Error {
    const secrets = [this.#paths?.path, this.#paths?.before].filter(
      (path) => path !== undefined && path !== FIXED_PATH,
    );
    const hidden = secrets.reduce<string>((text, path) => text.replaceAll(path ?? '', '/…'), messageOf(error));
    return new Error(hidden);
  }

  async #look(): Promise<void> {
    const { api, names, paths, ca } = this.#options;
    this.#paths = await paths();
    const trusted = ca();
    const before = this.#wanted;
    const wanted: Published = {
      path: published(this.#paths, this.#now()),
      ...(trusted === undefined ? {} : { ca: trusted }),
    };
    const differed = await publish(api, names, wanted);
    this.#wanted = wanted;
    // A path that somebody removed counts as drift until it is found in place again.
    const taken = differed && before?.path === wanted.path;
    this.#drift = taken ? 'something else changes the path of the webhooks; the operator has restored it' : undefined;
  }
}
