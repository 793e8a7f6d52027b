/** Realtime sessions, whose messages no policy reads: whether they pass all the same (docs/decisions.md#ai-realtime). */
import type { JsonObject } from '../../artifact/format.ts';
import type { Exchange } from '../../exchange.ts';
import { type AiRefused, refused } from '../ai/conversation/refusal.ts';
import { surfaceOf } from '../ai/surfaces/surface-of.ts';

export function isRealtime({ path }: Exchange): boolean {
  return surfaceOf(path) === 'realtime';
}

/** Of a session before a policy with this config, which is named `policy`: null where it may pass unread. */
export function unreadSession(policy: string, config: JsonObject): AiRefused | null {
  if (config['on_realtime'] === 'allow') return null;
  const detail = `${policy} reads no messages of realtime sessions, and does not let them pass unread.`;
  return refused('forbidden', 'realtime_not_permitted', detail);
}
