/** `host_hmac_verify`: shared secrets that never enter a plugin's memory. */
import { HostCallError } from '../../wasm/failures.ts';
import type { HostFunctions } from '../../wasm/host/host-function.ts';

/** What a code costs, in instructions. */
const CODE = 3_000;

export const hmacFunctions: HostFunctions = {
  host_hmac_verify: {
    signature: 'iiiiiiii:i',
    declared: true,
    make: (call) => (table, tableLength, name, nameLength, message, messageLength, code, codeLength) => {
      const { memory } = call;
      const pointer = memory.text(table, tableLength);
      const keys = call.binding.config.credentials.hmac.get(pointer);
      if (keys === undefined) {
        throw new HostCallError(`host_hmac_verify: "${pointer}" is no table of secrets: mark it x-gw-credentials`);
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
};
