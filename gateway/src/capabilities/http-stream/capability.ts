/** `host_http_stream`: the host proxies the request, and the instance is free. */

import { capability } from '../../capability/capability.ts';
import type { Exchange } from '../../exchange.ts';
import { HostCallError } from '../../wasm/call/host-call-error.ts';

/** An hour: past it a client has long gone. */
const MAX_TIMEOUT_MS = 3_600_000;

export const httpStream = capability({
  functions: {
    host_http_stream: {
      signature: 'iiiii:i',
      parameters: '(upstream, len, path, len, timeout_ms) -> 0',
      meaning:
        "hands the request off: the host proxies it, both bodies streaming, to the upstream whose URL is in the config at JSON pointer `upstream` (marked `x-gw-upstream`); `path` (with query) is appended to that URL's path; empty means path and query as the client sent them",
      declared: true,
      make: (call) => (upstream, upstreamLength, path, pathLength, timeoutMs) => {
        if (call.hook !== 'dispatch') throw new HostCallError(`host_http_stream is for dispatchers, not ${call.hook}`);
        const x = call.request();
        const pointer = call.memory.text(upstream, upstreamLength);
        const target = call.binding.upstreams.get(pointer);
        if (target === undefined) {
          throw new HostCallError(`host_http_stream: config "${pointer}" names no upstream: mark it x-gw-upstream`);
        }
        call.charge(pathLength);
        const wanted = pathLength === 0 ? asSent(x) : checkedPath(call.memory.text(path, pathLength));
        x.handOff = {
          upstream: target,
          path: wanted,
          timeoutMs: Math.min(Math.max(timeoutMs, 1), MAX_TIMEOUT_MS),
        };
        call.handedOff = true;
        return 0;
      },
    },
  },
});

/** What the transport has let in, less the parameters that plugins took out. */
function asSent({ path, query }: Exchange): string {
  return query === undefined ? path : `${path}?${query}`;
}

function checkedPath(path: string): string {
  if (/^[/?][\x21-\x7e]*$/.test(path) && !path.includes('#')) return path;
  throw new HostCallError('host_http_stream: the path must begin with "/" and be percent-encoded');
}
