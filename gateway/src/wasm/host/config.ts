/** The plugin's config, by JSON pointer; and refusing it. */
import { HostCallError } from '../call/host-call-error.ts';
import type { HostFunctions } from '../call/host-function.ts';

/** Cost of skipping a member's name, in bytes of work. */
const NAME = 16;

export const configFunctions: HostFunctions = {
  config_get: {
    signature: 'iiii:i',
    make: (call) => (pointer, length, buf, cap) => {
      const text = call.binding.config.text(call.memory.jsonPointer(pointer, length));
      if (text !== undefined) call.charge(text.length);
      return call.memory.writeText(text, buf, cap);
    },
  },
  config_count: {
    signature: 'ii:i',
    make: (call) => (pointer, length) => call.binding.config.count(call.memory.jsonPointer(pointer, length)),
  },
  config_key: {
    signature: 'iiiii:i',
    make: (call) => (pointer, length, index, buf, cap) => {
      const { config } = call.binding;
      const at = call.memory.jsonPointer(pointer, length);
      call.charge(Math.max(0, config.count(at)) * NAME);
      return call.memory.writeText(config.key(at, index), buf, cap);
    },
  },
  fail: {
    signature: 'ii:',
    make: (call) => (message, length) => {
      call.memory.check(message, length);
      const text = call.memory.text(message, Math.min(length >>> 0, 4096));
      if (call.hook !== 'init') throw new HostCallError(text);
      call.refusal = text;
    },
  },
};
