/** `host_credential_find`: tables of keys that never enter a plugin's memory. */
import { HostCallError } from '../../wasm/failures.ts';
import type { HostFunctions } from '../../wasm/host/host-function.ts';

/** What a digest costs, in instructions. */
const DIGEST = 1_000;

export const credentialFunctions: HostFunctions = {
  host_credential_find: {
    signature: 'iiii:i',
    declared: true,
    make: (call) => (table, tableLength, value, valueLength) => {
      const pointer = call.memory.text(table, tableLength);
      const entries = call.binding.config.credentials.keys.get(pointer);
      if (entries === undefined) {
        throw new HostCallError(`host_credential_find: "${pointer}" is no credential table: mark it x-gw-credentials`);
      }
      call.burn(DIGEST);
      call.charge(valueLength);
      return entries.find(call.memory.text(value, valueLength));
    },
  },
};
