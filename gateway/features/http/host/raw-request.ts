/**
 * `host_request_raw`: the headers as the client sent them, before admission
 * (docs/reference/gateway.md#header-admission, docs/decisions.md#raw-request).
 */
import { capability } from '../../kit.ts';

export const rawRequest = capability({
  functions: {
    host_request_raw: {
      signature: 'iiii:i',
      parameters: '(index, part, buf, cap) -> len',
      meaning:
        "header number `index` as the client sent it, admitted or not: its name (part 0, in the client's spelling) or value (part 1)",
      declared: true,
      make: (call) => (index, part, buf, cap) => {
        const { rawHeaders } = call.request();
        const value = rawHeaders[(index >>> 0) * 2 + (part & 1)];
        if (value !== undefined) call.charge(value.length);
        return call.memory.writeText(value, buf, cap);
      },
    },
  },
});
