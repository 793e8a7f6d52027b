/** `host_hmac_verify`: shared secrets that never enter a plugin's memory. */

import { type CredentialEntry, capability, HostCallError, messageOf, PluginLoadError } from '../../../kit.ts';
import { HmacKeyTable } from './hmac-key-table.ts';

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
          const pointer = memory.jsonPointer(table, tableLength);
          const keys = bound().get(pointer);
          if (keys === undefined) {
            throw new HostCallError(
              `host_hmac_verify: "${pointer}" is not a table of secrets: mark it x-gw-credentials`,
            );
          }
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
