/** A refusal as the end of a realtime session: with its code, and when to try again. */
import { type CloseStatus, closeReason, get, headerOf } from '../../../../kit.ts';
import type { AiRefusal } from '../../proxy/conversation/refusal.ts';

const [POLICY, TRY_AGAIN] = [1008, 1013];
const AWAY = 503;

export function budgetCloseStatus({ problem }: AiRefusal): CloseStatus {
  const { status, title, headers = [], members } = problem;
  const code = get(members, 'code');
  const retryAfter = headerOf([...headers], 'retry-after');
  const when = retryAfter === undefined ? '' : `; try again in ${retryAfter} s`;
  return {
    code: status === AWAY ? TRY_AGAIN : POLICY,
    reason: closeReason(`${typeof code === 'string' ? code : title}${when}`),
  };
}
