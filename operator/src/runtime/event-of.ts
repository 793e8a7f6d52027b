/** An Event whose type is that of its reason. */
import { eventTypeOf, type ReasonName } from '../api/reasons.ts';
import type { EventRecord } from './objects.ts';

export function eventOf(reason: ReasonName, action: string, note: string): EventRecord {
  return { type: eventTypeOf(reason), reason, action, note };
}
