/** Why a call to an upstream has no answer, and the problem that clients get in its place. */
import { type Problem, problem } from '../problems.ts';
import { ConnectTimeout, EgressRefused } from './connector.ts';
import { InvalidRequest } from './http1/request-head.ts';
import { LookupsCrowded } from './name-lookups.ts';
import { isOwnLimit } from './own-limit.ts';
import { UpstreamStalled } from './stall-timer.ts';
import { UpstreamCallsCrowded } from './upstream-calls.ts';

export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

export function problemOf(error: Error): Problem {
  if (error instanceof ConnectTimeout || error instanceof UpstreamStalled) {
    return problem('upstream-timeout', 'The upstream did not answer in time.');
  }
  if (error instanceof LookupsCrowded) {
    return problem('overloaded', 'Too many names of upstreams are being looked up. Try again.');
  }
  if (error instanceof UpstreamCallsCrowded) {
    return problem('overloaded', 'Too many calls to upstreams are under way. Try again.');
  }
  if (isOwnLimit(error)) {
    return problem('overloaded', 'The gateway has no room for another connection. Try again.');
  }
  if (error instanceof EgressRefused) {
    return problem('upstream-failed', 'The upstream is not at an address that the gateway may connect to.');
  }
  return problem('upstream-failed', 'The upstream could not be reached, or its answer was not valid.');
}

/** Reports whether an error before there was a connection lies in the server, or the way to it. */
export function isOfServer(error: Error): boolean {
  return !(error instanceof UpstreamStalled || error instanceof InvalidRequest || isOwnLimit(error));
}
