/** Keeps the addresses of named upstreams as their file has them. */
import { requireBound } from '../egress/named/bindings.ts';
import type { ServeOptions } from '../options/serve-options.ts';
import type { Log } from '../telemetry/log.ts';
import { messageOf } from '../text/message-of.ts';
import type { Traffic } from '../traffic/traffic.ts';
import { readUpstreams, watchUpstreams } from './upstreams-file.ts';

interface Deps {
  readonly traffic: Pick<Traffic, 'bindUpstreams'>;
  readonly logger: Log['logger'];
  /** Names of the upstreams that the served artifact needs. */
  readonly names: () => readonly string[];
  /** New addresses are in use. */
  readonly replaced: () => Promise<void>;
}

const REJECTED = 'new addresses of upstreams rejected: still using the previous ones';

export class BoundUpstreams {
  readonly #options: ServeOptions;
  readonly #deps: Deps;

  constructor(options: ServeOptions, deps: Deps) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * Reads the file again before an artifact is loaded, whose upstreams may be others; upstreams that the file no longer
   * has keep their addresses meanwhile. Addresses that cannot be used are logged, and the previous ones stay.
   */
  async reload(): Promise<void> {
    if (this.#options.upstreams === undefined) return;
    try {
      await this.#deps.traffic.bindUpstreams(await readUpstreams(this.#options));
    } catch (error) {
      this.#deps.logger.error({ reason: messageOf(error) }, REJECTED);
    }
  }

  /** Follows the file. Returns the function that ends it. */
  watch(): () => void {
    const { upstreams: path } = this.#options;
    return path === undefined ? () => {} : watchUpstreams(path, () => this.#changed(path));
  }

  async #changed(path: string): Promise<void> {
    const { traffic, logger, names, replaced } = this.#deps;
    try {
      const bindings = await readUpstreams(this.#options);
      requireBound(names(), bindings);
      await traffic.bindUpstreams(bindings);
      logger.info({ file: path, upstreams: Object.keys(bindings) }, 'addresses of upstreams replaced');
      await replaced();
    } catch (error) {
      logger.error({ reason: messageOf(error) }, REJECTED);
    }
  }
}
