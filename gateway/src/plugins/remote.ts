/**
 * Plugins that gw.yaml names by URL and sha256: fetched once, then kept by their hash
 * (docs/reference/cli.md#remote-plugins, docs/decisions.md#references-stay-inside).
 */
import { hash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EgressGuard } from '../egress/guard.ts';
import { replaceFile } from '../files/replace-file.ts';
import { messageOf } from '../text/message-of.ts';
import { readPluginArchive } from './archive.ts';
import { DownloadError, download, withoutQuery } from './download.ts';
import { readPluginPackage } from './package.ts';
import type { ProjectPlugin } from './project-plugin.ts';

export interface RemotePlugin {
  readonly url: string;
  /** Hex, of the file that the URL leads to. */
  readonly sha256: string;
}

export interface RemotePluginsOptions {
  readonly guard: EgressGuard;
  /** Allows `http:`. */
  readonly allowPlaintext: boolean;
  /** Folder of the cache; absent: no cache. */
  readonly cacheDir?: string;
  /** False: fetches cached modules, too, and replaces them. */
  readonly useCache: boolean;
  /** Receives a line about a download that takes long, or a cache that cannot be written. */
  readonly report: (line: string) => void;
}

/** Downloads that take longer than this are reported, again and again. */
const REPORT_EVERY_MS = 2_000;

export class RemotePlugins {
  readonly #options: RemotePluginsOptions;

  constructor(options: RemotePluginsOptions) {
    this.#options = options;
  }

  /** Rejects with DownloadError or PluginPackageError. */
  async load(name: string, plugin: RemotePlugin): Promise<ProjectPlugin> {
    const bytes = (await this.#cached(plugin)) ?? (await this.#fetched(name, plugin));
    return readPluginPackage(await readPluginArchive(bytes, name));
  }

  /** Returns null if it is missing, or its content no longer has the hash in its name. */
  async #cached({ sha256 }: RemotePlugin): Promise<Buffer | null> {
    const { cacheDir, useCache } = this.#options;
    if (cacheDir === undefined || !useCache) return null;
    try {
      const bytes = await readFile(join(cacheDir, sha256));
      return hash('sha256', bytes, 'hex') === sha256 ? bytes : null;
    } catch {
      return null;
    }
  }

  async #fetched(name: string, { url, sha256 }: RemotePlugin): Promise<Buffer> {
    const { guard, allowPlaintext, report } = this.#options;
    let bytes = 0;
    const timer = setInterval(() => {
      report(`fetching plugin "${name}" from ${withoutQuery(url)}: ${(bytes / 1024).toFixed(0)} KiB`);
    }, REPORT_EVERY_MS);
    const onProgress = (size: number) => {
      bytes = size;
    };
    let file: Buffer;
    try {
      file = await download(url, { guard, allowPlaintext, onProgress });
    } finally {
      clearInterval(timer);
    }
    const has = hash('sha256', file, 'hex');
    if (has !== sha256) {
      throw new DownloadError(`${withoutQuery(url)} has sha256 ${has}, but gw.yaml requires ${sha256}`);
    }
    await this.#keep(sha256, file);
    return file;
  }

  async #keep(sha256: string, bytes: Buffer): Promise<void> {
    const { cacheDir, report } = this.#options;
    if (cacheDir === undefined) return;
    try {
      await mkdir(cacheDir, { recursive: true });
      await replaceFile(join(cacheDir, sha256), bytes);
    } catch (error) {
      report(`cannot keep the plugin in ${cacheDir}: ${messageOf(error)}`);
    }
  }
}
