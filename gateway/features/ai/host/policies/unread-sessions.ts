/** Decides whether realtime sessions pass although no policy reads their messages (docs/decisions.md#ai-realtime). */

import type { Exchange, JsonObject } from '../../../kit.ts';
import { type AiRefusal, refusal } from '../proxy/conversation/refusal.ts';
import { surfaceOf } from '../proxy/surfaces/surface-of.ts';

export function isRealtime({ path }: Exchange): boolean {
  return surfaceOf(path) === 'realtime';
}

/** Refuses a session before the policy named `policy`; returns null if the config lets it pass unread. */
export function unreadSession(policy: string, config: JsonObject): AiRefusal | null {
  if (config['on_realtime'] === 'allow') return null;
  const detail = `${policy} reads no messages of realtime sessions, and does not let them pass unread.`;
  return refusal('forbidden', 'realtime_not_permitted', detail);
}
