/** Failures of the gateway itself, which say nothing about the upstream. */
import { errorCode } from '../text/error-code.ts';
import { LookupsCrowded } from './name-lookups.ts';
import { UpstreamCallsCrowded } from './upstream-calls.ts';

/** Files, ports or memory of this machine are used up. */
const CODES = new Set(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM']);

/** Reports whether the gateway had no place for the call. */
export function isOwnLimit(error: unknown): boolean {
  if (error instanceof LookupsCrowded || error instanceof UpstreamCallsCrowded) return true;
  return CODES.has(errorCode(error) ?? '');
}
