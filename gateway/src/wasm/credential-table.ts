/** Credentials that stay in the host: found by digest, so that neither time nor the plugin's memory tells them. */
import { hash, randomBytes } from 'node:crypto';
import type { Json } from '../artifact/format.ts';
import { PluginLoadError } from './plugin.ts';

/** Makes digests of this process unlike those of any other, so that lookups cannot be steered from outside. */
const pepper = randomBytes(32).toString('base64');

function digest(value: string): string {
  return hash('sha256', pepper + value, 'base64');
}

export class CredentialTable {
  readonly #entries = new Map<string, number>();

  /** Throws PluginLoadError where an entry has no credential, an empty one, or one that another entry has too. */
  constructor(pointer: string, property: string, entries: readonly Json[]) {
    entries.forEach((entry, index) => {
      const at = `config ${pointer}/${index}`;
      const value = typeof entry === 'object' && entry !== null ? Object.entries(entry) : [];
      const credential = value.find(([name]) => name === property)?.[1];
      if (typeof credential !== 'string' || credential === '') {
        throw new PluginLoadError(`${at} needs a ${property} that is not empty`);
      }
      const key = digest(credential);
      const other = this.#entries.get(key);
      if (other !== undefined)
        throw new PluginLoadError(`${at} has the same ${property} as entry ${other}: use each once`);
      this.#entries.set(key, index);
      // HTTP header values reach us as Latin-1; a credential beyond ASCII is found as its UTF-8 bytes too.
      this.#entries.set(digest(Buffer.from(credential, 'utf8').toString('latin1')), index);
    });
  }

  /** Index of the entry, or -1; in time that does not depend on how much of a credential matches. */
  find(value: string): number {
    return this.#entries.get(digest(value)) ?? -1;
  }
}
