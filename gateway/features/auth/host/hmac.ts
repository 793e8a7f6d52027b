/** `host_hmac_verify`: shared secrets that never enter a plugin's memory. */

import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { type CredentialEntry, capability, messageOf, PluginLoadError } from '../../kit.ts';
import { markedTable } from './marked-table.ts';

/** Cost of a code, in instructions. */
const CODE = 3_000;

export const hmac = capability({
  bind: (_, config) => config.credentials('hmac', hmacTable),
  functions: {
    host_hmac_verify: {
      signature: 'iiiiiiii:i',
      parameters: '(table, len, name, len, message, len, code, len) -> index',
      meaning:
        "the entry of the table (kind `hmac`) with this name, if `code` is the message's HMAC-SHA256 with its secret, otherwise -1; compared in constant time",
      declared: true,
      make:
        (call, { bound }) =>
        (table, tableLength, name, nameLength, message, messageLength, code, codeLength) => {
          const { memory } = call;
          const keys = markedTable(call, bound(), [table, tableLength], ['host_hmac_verify', 'table of secrets']);
          call.burn(CODE);
          call.charge(nameLength + messageLength + codeLength);
          return keys.verify(
            memory.text(name, nameLength),
            memory.copy(message, messageLength),
            memory.copy(code, codeLength),
          );
        },
    },
  },
});

function hmacTable(entries: readonly CredentialEntry[], pointer: string): HmacKeyTable {
  try {
    return new HmacKeyTable(entries);
  } catch (error) {
    throw new PluginLoadError(`config ${pointer}: a secret ${messageOf(error)}`, { cause: error });
  }
}

interface HmacKeyEntry {
  readonly name: string;
  /** UTF-8, or `base64:` and base64. */
  readonly secret: string;
}

/** The secret cannot be used; the message says why, without quoting it. */
class HmacKeyError extends Error {}

/** Less is guessed, given one message and its code. */
const LEAST_BYTES = 16;
const ENCODED = /^base64:([A-Za-z0-9+/]*={0,2})$/;

const NO_KEY = -1;

/** Shared secrets of one config: reveals only the owner of a message's code. */
class HmacKeyTable {
  readonly #keys: readonly KeyObject[];
  readonly #byName = new Map<string, number>();
  /** Key for unknown names, so that they take as long. */
  readonly #standIn = createSecretKey(randomBytes(32));

  /** Names must be unique. Throws HmacKeyError. */
  constructor(entries: readonly HmacKeyEntry[]) {
    this.#keys = entries.map(({ secret }) => createSecretKey(secretBytes(secret)));
    for (const [index, { name }] of entries.entries()) this.#byName.set(name, index);
  }

  /** Returns the index of the key of this name if `code` is the message's HMAC-SHA256 by it, else NO_KEY. */
  verify(name: string, message: Uint8Array, code: Uint8Array): number {
    const index = this.#byName.get(name) ?? NO_KEY;
    const wanted = createHmac('sha256', this.#keys[index] ?? this.#standIn)
      .update(message)
      .digest();
    return code.length === wanted.length && timingSafeEqual(code, wanted) ? index : NO_KEY;
  }
}

/** Throws HmacKeyError. Says of a config's secret too whether it can be used. */
function secretBytes(text: string): Buffer {
  const encoded = ENCODED.exec(text)?.[1];
  if (encoded === undefined && text.startsWith('base64:')) throw new HmacKeyError('is not base64 after "base64:"');
  const bytes = encoded === undefined ? Buffer.from(text, 'utf8') : Buffer.from(encoded, 'base64');
  if (bytes.length >= LEAST_BYTES) return bytes;
  throw new HmacKeyError(`has fewer than ${LEAST_BYTES} bytes: make one with "openssl rand -hex 32"`);
}
