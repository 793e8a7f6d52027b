/** Reads parts of what providers answer, and says what is wrong with them. */
import { get, isObject } from '../../../spec/json.ts';
import type { StopReason } from '../conversation/conversation.ts';
import { ProviderFailed } from '../conversation/provider-failure.ts';

/** Throws ProviderFailed where it is no text. */
export function textOf(object: unknown, name: string): string {
  const value = get(object, name);
  if (typeof value !== 'string') throw notValid(`${name} is not a string`);
  return value;
}

/** The object that an event is. Throws ProviderFailed where it is none. */
export function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Refused below.
  }
  throw notValid('an event is not a JSON object');
}

export function notValid(why: string): ProviderFailed {
  return new ProviderFailed(`its answer is not valid: ${why}`);
}

/** Some models say that they are at their end where they have called a tool, or the reverse: who calls tools would wait, or go on for ever. */
export function stopWith(hasCalls: boolean, reason: StopReason): StopReason {
  if (reason === 'end' && hasCalls) return 'tools';
  return reason === 'tools' && !hasCalls ? 'end' : reason;
}
