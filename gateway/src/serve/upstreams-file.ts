/** The file with the addresses of named upstreams (`--upstreams`, docs/upstreams.md#addresses). */
import { readFile, stat } from 'node:fs/promises';
import { type Bindings, bindingsOf, requireBound } from '../egress/named/bindings.ts';
import { UpstreamError } from '../egress/named/upstream-error.ts';
import { fileStamp, pollForChange } from '../files/poll-for-change.ts';
import { readFailure } from '../files/read-failure.ts';
import type { ServeOptions } from '../options/serve-options.ts';
import type { Log } from '../telemetry/log.ts';
import { errorCode } from '../text/error-code.ts';
import { messageOf } from '../text/message-of.ts';
import type { Traffic } from '../traffic/traffic.ts';

interface Deps {
  readonly traffic: Pick<Traffic, 'bindUpstreams'>;
  readonly logger: Log['logger'];
  /** Names of the upstreams that the served artifact needs. */
  readonly names: () => readonly string[];
  /** New addresses are in use. */
  readonly replaced: () => Promise<void>;
}

const REJECTED = 'new addresses of upstreams rejected: still using the previous ones';

/** Keeps the addresses of named upstreams as their file has them. */
export class UpstreamsFile {
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

  /** Follows the file, as `pollForChange` does. Returns the function that ends it. */
  watch(): () => void {
    const { upstreams: path } = this.#options;
    if (path === undefined) return () => {};
    return pollForChange(
      async () => fileStamp(path, await stat(path)),
      () => this.#changed(path),
    );
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

type Options = Pick<ServeOptions, 'upstreams' | 'allowPlaintextUpstream' | 'dev' | 'upstreamsMayBeMissing'>;

/** Returns the addresses, which are empty if no file is named. Rejects with UpstreamError, which names the file. */
export async function readUpstreams(options: Options): Promise<Bindings> {
  const { upstreams: path, allowPlaintextUpstream, dev } = options;
  if (path === undefined) return {};
  const bytes = await bytesOf(path, options);
  if (bytes === null) return {};
  const { parseText } = await import('../spec/parse.ts');
  const parsed = parseText(bytes);
  if (!parsed.ok) throw new UpstreamError(`${path}: ${parsed.message}. ${parsed.hint}`);
  try {
    return bindingsOf(parsed.value, allowPlaintextUpstream || dev);
  } catch (error) {
    throw new UpstreamError(`${path}: ${messageOf(error)}`, { cause: error });
  }
}

async function bytesOf(path: string, { upstreamsMayBeMissing }: Options): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (upstreamsMayBeMissing === true && errorCode(error) === 'ENOENT') return null;
    throw new UpstreamError(`cannot read --upstreams ${path}: ${readFailure(error)}`, { cause: error });
  }
}
