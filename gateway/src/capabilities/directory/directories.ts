/** The directories that the plugins of one artifact have opened; equal settings share one. */
import { createSecureContext, rootCertificates } from 'node:tls';
import type { JsonObject } from '../../artifact/format.ts';
import type { ReadPem } from '../../egress/upstream.ts';
import { Directory, type DirectoryDeps } from './directory.ts';
import { readDirectorySettings } from './directory-settings.ts';

export interface DirectoriesDeps extends Omit<DirectoryDeps, 'secureContext'> {
  readonly readPem: ReadPem;
}

export class Directories {
  readonly #deps: DirectoriesDeps;
  readonly #open = new Map<string, Directory>();

  constructor(deps: DirectoriesDeps) {
    this.#deps = deps;
  }

  /** Throws DirectorySettingsError, or SecretError for a PEM file. */
  open(config: JsonObject): Directory {
    const settings = readDirectorySettings(config);
    const key = JSON.stringify(settings);
    let directory = this.#open.get(key);
    if (!directory) {
      const { guard, cache, log, readPem } = this.#deps;
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
