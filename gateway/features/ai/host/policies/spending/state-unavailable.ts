import { AiRefusal, aiProblem } from '../../proxy/conversation/refusal.ts';

/** Returns the refusal of a policy that must count and cannot. */
export function stateUnavailable(): AiRefusal {
  const detail = 'The budget cannot be checked at present.';
  return new AiRefusal(aiProblem('state-unavailable', null, detail, { headers: ['retry-after', '1'] }));
}
