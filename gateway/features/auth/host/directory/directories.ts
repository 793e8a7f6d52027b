/** The directories that the plugins of one artifact have opened; equal settings share one. */
import { createSecureContext, rootCertificates } from 'node:tls';
import type { JsonObject, ReadPem } from '../../../kit.ts';
import { Directory, type DirectoryDeps } from './directory.ts';
import { readDirectorySettings } from './directory-settings.ts';

export interface DirectoriesDeps extends Omit<DirectoryDeps, 'secureContext' | 'log'> {
  readonly readPem: ReadPem;
  /** `plugin`: plugin that the message is about. */
  log(level: 'info' | 'error', plugin: string, message: string): void;
}

export class Directories {
  readonly #deps: DirectoriesDeps;
  readonly #open = new Map<string, Directory>();

  constructor(deps: DirectoriesDeps) {
    this.#deps = deps;
  }

  /**
   * `plugin`: the asking plugin; faults of a directory are logged for the first. Throws DirectorySettingsError, or
   * SecretError for a PEM file.
   */
  open(config: JsonObject, plugin: string): Directory {
    const settings = readDirectorySettings(config);
    const key = JSON.stringify(settings);
    let directory = this.#open.get(key);
    if (!directory) {
      const { guard, cache, readPem } = this.#deps;
      const log: DirectoryDeps['log'] = (level, message) => this.#deps.log(level, plugin, message);
      const ca = settings.ca === undefined ? undefined : [...rootCertificates, readPem(settings.ca)];
      const secureContext = ca && createSecureContext({ ca });
      directory = new Directory(settings, { guard, cache, log, ...(secureContext ? { secureContext } : {}) });
      this.#open.set(key, directory);
    }
    return directory;
  }

  close(): void {
    for (const directory of this.#open.values()) directory.close();
  }
}
