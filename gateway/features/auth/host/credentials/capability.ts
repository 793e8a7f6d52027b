/** `host_credential_find`: tables of keys that never enter a plugin's memory. */

import { capability, HostCallError } from '../../../kit.ts';
import { CredentialTable } from './credential-table.ts';

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
          const pointer = call.memory.jsonPointer(table, tableLength);
          const entries = bound().get(pointer);
          if (entries === undefined) {
            throw new HostCallError(
              `host_credential_find: "${pointer}" is not a credential table: mark it x-gw-credentials`,
            );
          }
          call.burn(DIGEST);
          call.charge(valueLength);
          return entries.find(call.memory.text(value, valueLength));
        },
    },
  },
});
