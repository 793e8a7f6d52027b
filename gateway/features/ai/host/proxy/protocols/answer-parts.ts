/** Reads parts of providers' answers, and reports their faults. */

import { get, isObject } from '../../../../kit.ts';
import type { StopReason } from '../conversation/conversation.ts';
import { ProviderFailure } from '../conversation/provider-failure.ts';

/** Throws ProviderFailure if the member is not a string. */
export function textOf(object: unknown, name: string): string {
  const value = get(object, name);
  if (typeof value !== 'string') throw notValid(`${name} is not a string`);
  return value;
}

/** Parses the object of an event. Throws ProviderFailure if it is not a JSON object. */
export function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Refused below.
  }
  throw notValid('an event is not a JSON object');
}

export function notValid(why: string): ProviderFailure {
  return new ProviderFailure(`its answer is not valid: ${why}`);
}

/**
 * Corrects the stop reason: some models report their end after a tool call, or a tool call without one, and clients
 * with tools would wait or loop forever.
 */
export function stopWith(hasCalls: boolean, reason: StopReason): StopReason {
  if (reason === 'end' && hasCalls) return 'tools';
  return reason === 'tools' && !hasCalls ? 'end' : reason;
}
