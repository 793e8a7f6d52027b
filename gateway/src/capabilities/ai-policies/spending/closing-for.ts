/** A refusal as the end of a realtime session: with its code, and when to try again. */
import { headerOf } from '../../../exchange.ts';
import { get } from '../../../spec/json.ts';
import type { Closing } from '../../../web-socket-closing.ts';
import { closeReason } from '../../../websocket/close-frame.ts';
import type { AiRefused } from '../../ai/conversation/refusal.ts';

const [POLICY, TRY_AGAIN] = [1008, 1013];
const AWAY = 503;

export function closingFor({ problem }: AiRefused): Closing {
  const { status, title, headers = [], members } = problem;
  const code = get(members, 'code');
  const retryAfter = headerOf([...headers], 'retry-after');
  const when = retryAfter === undefined ? '' : `; try again in ${retryAfter} s`;
  return {
    code: status === AWAY ? TRY_AGAIN : POLICY,
    reason: closeReason(`${typeof code === 'string' ? code : title}${when}`),
  };
}
