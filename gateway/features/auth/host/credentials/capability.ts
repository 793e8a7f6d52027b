/** `host_credential_find`: tables of keys that never enter a plugin's memory. */

import { hash, randomBytes } from 'node:crypto';
import { type CredentialEntry, capability, PluginLoadError } from '../../../kit.ts';
import { markedTable } from '../marked-table.ts';
import { isPasswordHash } from '../passwords/password-hash.ts';
import { hashedKey } from './key-hash.ts';

/** Cost of a digest, in instructions. */
const DIGEST = 1_000;

export const credentials = capability({
  bind: (_, config) => config.credentials('key', (entries) => new CredentialTable(entries)),
  functions: {
    host_credential_find: {
      signature: 'iiii:i',
      parameters: '(table, len, value, len) -> index',
      meaning:
        'the entry of the config table at JSON pointer `table` (marked `x-gw-credentials` in the schema) whose marked property equals the value, or -1; in time that does not depend on how much of it matches. Its other properties are read with `config_get`; the marked one is not readable',
      declared: true,
      make:
        (call, { bound }) =>
        (table, tableLength, value, valueLength) => {
          const entries = markedTable(
            call,
            bound(),
            [table, tableLength],
            ['host_credential_find', 'credential table'],
          );
          call.burn(DIGEST);
          call.charge(valueLength);
          return entries.find(call.memory.text(value, valueLength));
        },
    },
  },
});

/** Makes digests of this process unlike those of any other, so that lookups cannot be steered from outside. */
const pepper = randomBytes(32).toString('base64');

/** Latin-1, and not ASCII alone. */
const BEYOND_ASCII = /^[\0-\x7f]*[\x80-\xff][\0-\xff]*$/;

function digest(text: string | Buffer): string {
  const salted = typeof text === 'string' ? pepper + text : Buffer.concat([Buffer.from(pepper), text]);
  return hash('sha256', salted, 'base64');
}

/** API keys that stay in the host: found by digest, so that neither time nor the plugin's memory tells them. */
export class CredentialTable {
  /** Keys that the config has in plain text, and those of which it has the SHA-256, which take one digest more to find. */
  readonly #plain = new Map<string, number>();
  readonly #hashed = new Map<string, number>();

  /** Throws PluginLoadError if two entries have one credential, or it is a hash of passwords. */
  constructor(entries: readonly CredentialEntry[]) {
    const known = new Map<string, number>();
    entries.forEach(({ at, secret, property }, index) => {
      if (isPasswordHash(secret)) {
        throw new PluginLoadError(
          `${at}: ${property} is the hash of a password, by which no key can be found: use sha256:<hex>, as "gw hash --algorithm sha256" makes it`,
        );
      }
      const sha256 = hashedKey(secret);
      const key = sha256 ?? hash('sha256', secret, 'hex');
      const other = known.get(key);
      if (other !== undefined)
        throw new PluginLoadError(`${at} has the same ${property} as entry ${other}: use each once`);
      known.set(key, index);
      if (sha256 === null) this.#plain.set(digest(secret), index);
      else this.#hashed.set(digest(sha256), index);
    });
  }

  /** Index of the entry, or -1; in time that does not depend on how much of a credential matches. */
  find(value: string): number {
    const found = this.#find(value);
    // HTTP header values arrive as Latin-1; a credential beyond ASCII is found by its UTF-8 bytes too.
    return found >= 0 || !BEYOND_ASCII.test(value) ? found : this.#find(Buffer.from(value, 'latin1'));
  }

  #find(value: string | Buffer): number {
    const plain = this.#plain.size === 0 ? undefined : this.#plain.get(digest(value));
    if (plain !== undefined) return plain;
    return this.#hashed.size === 0 ? -1 : (this.#hashed.get(digest(hash('sha256', value, 'hex'))) ?? -1);
  }
}
