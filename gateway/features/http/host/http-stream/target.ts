/** The target to which a dispatcher hands a request off. */
import { type Call, type Exchange, type HandOff, HostCallError } from '../../../kit.ts';

/** Places and lengths of two texts in the plugin's memory. */
interface TargetArguments {
  /** JSON pointer of the upstream in the config. */
  readonly upstream: number;
  readonly upstreamLength: number;
  /** Path and query; empty for those of the request. */
  readonly path: number;
  readonly pathLength: number;
}

/** Throws HostCallError outside `dispatch`, if the config lacks the upstream, and if the path is malformed. */
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
