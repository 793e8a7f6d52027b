/** `host_http_stream`: the host proxies the request, and the instance is free. */

import { capability } from '../../../kit.ts';
import { targetOf } from './target.ts';

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
      relays: true,
      make: (call) => (upstream, upstreamLength, path, pathLength, timeoutMs) => {
        const target = targetOf(call, 'host_http_stream', { upstream, upstreamLength, path, pathLength });
        call.request().handOff = { ...target, timeoutMs: Math.min(Math.max(timeoutMs, 1), MAX_TIMEOUT_MS) };
        call.handedOff = true;
        return 0;
      },
    },
  },
});
