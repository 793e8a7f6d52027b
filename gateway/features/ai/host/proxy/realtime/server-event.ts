/** Events of a realtime session that report its cost; the gateway ignores all others. */

import { get, isQuickJson } from '../../../../kit.ts';
import { type RealtimeUsage, realtimeUsage } from '../conversation/usage.ts';

export type ServerEvent =
  | { readonly type: 'begun' }
  /** `usage`: null if the provider has counted nothing; `isFailed`: the response failed. */
  | { readonly type: 'done'; readonly usage: RealtimeUsage | null; readonly isFailed: boolean };

const [CREATED, DONE] = ['response.created', 'response.done'];
/** Names in quotes, as values of members: in texts of a model, quotes have a backslash before them. */
const NAMES = [CREATED, DONE].map((name) => Buffer.from(`"${name}"`));

/** Returns null for any other message. */
export function serverEvent(message: Buffer): ServerEvent | null {
  if (!NAMES.some((name) => message.includes(name))) return null;
  const event = parse(message);
  const type = get(event, 'type');
  if (type === CREATED) return { type: 'begun' };
  if (type !== DONE) return null;
  const response = get(event, 'response');
  return { type: 'done', usage: realtimeUsage(get(response, 'usage')), isFailed: get(response, 'status') === 'failed' };
}

function parse(message: Buffer): unknown {
  if (!isQuickJson(message)) return null;
  try {
    return JSON.parse(message.toString());
  } catch {
    return null;
  }
}
