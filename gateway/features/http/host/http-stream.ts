/** `host_http_stream`: the host proxies the request, and the instance is free. */

import { type Call, capability, type Exchange, type HandOff, HostCallError } from '../../kit.ts';

/** An hour: past it a client has long gone. */
const MAX_TIMEOUT_MS = 3_600_000;

export const httpStream = capability({
  functions: {
    host_http_stream: {
      signature: 'iiiii:i',
      parameters: '(upstream, len, path, len, timeout_ms) -> 0',
      meaning:
        "hands the request off: the host proxies it, both bodies streaming, to the upstream whose URL or name is in the config at JSON pointer `upstream` (marked `x-gw-upstream`); `path` (with query) is appended to that URL's path; empty means path and query as the client sent them",
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

/** Places and lengths of two texts in the plugin's memory. */
interface TargetArguments {
  /** JSON pointer of the upstream in the config. */
  readonly upstream: number;
  readonly upstreamLength: number;
  /** Path and query; empty for those of the request. */
  readonly path: number;
  readonly pathLength: number;
}

/**
 * Returns the target to which a dispatcher hands a request off. Throws HostCallError outside `dispatch`, if the config
 * lacks the upstream, and if the path is malformed.
 */
export function targetOf(
  call: Call,
  fn: string,
  { upstream, upstreamLength, path, pathLength }: TargetArguments,
): Pick<HandOff, 'upstream' | 'path'> {
  if (call.hook !== 'dispatch') throw new HostCallError(`${fn} is for dispatchers, not ${call.hook}`);
  const pointer = call.memory.jsonPointer(upstream, upstreamLength);
  const target = call.binding.upstreams.get(pointer);
  if (target === undefined) {
    throw new HostCallError(`${fn}: config "${pointer}" names no upstream: mark it x-gw-upstream`);
  }
  call.charge(pathLength);
  const wanted = pathLength === 0 ? asSent(call.request()) : checkedPath(fn, call.memory.text(path, pathLength));
  return { upstream: target, path: wanted };
}

/** Returns the target as the transport admitted it, without the parameters that plugins removed. */
function asSent({ path, query }: Exchange): string {
  return query === undefined ? path : `${path}?${query}`;
}

function checkedPath(fn: string, path: string): string {
  if (/^[/?][\x21-\x7e]*$/.test(path) && !path.includes('#')) return path;
  throw new HostCallError(`${fn}: the path must begin with "/" and be percent-encoded`);
}
