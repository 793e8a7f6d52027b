/** `host_ai_answers_open` and `host_ai_answers_check`: rules for answers of AI providers. */

import {
  type CounterInfo,
  capability,
  type Exchange,
  InitSlot,
  inTurns,
  type JsonObject,
  type LabelledCounter,
} from '../../../../kit.ts';
import { PII_KINDS } from '../pii/kinds.ts';
import { PII_ACTIONS } from '../pii/pii-rules.ts';
import { PolicyFunctions } from '../policy-functions.ts';
import { isRealtime, unreadSession } from '../unread-sessions.ts';
import { AnswerGuard } from './answer-guard.ts';

const code = (values: readonly string[]) => values.map((each) => `\`${each}\``).join(', ');

const FINDINGS: CounterInfo = {
  help: 'Findings of ai-response-guard in answers of AI providers; streams of responses count each repetition',
  labels: {
    kind: `what was found: ${code([...PII_KINDS, 'pattern'])}`,
    action: `action taken: ${code(PII_ACTIONS)}`,
  },
};

/** An answer that refuses a handshake has no texts of a model. */
function unreadOpened({ response }: Exchange, policy: string, config: JsonObject) {
  return response.status === SWITCHES ? unreadSession(policy, config) : null;
}

const SWITCHES = 101;

const guards = new PolicyFunctions<LabelledCounter, InitSlot<AnswerGuard>, AnswerGuard>((slot) => slot);

export const aiAnswers = capability({
  metrics: { gw_plugin_ai_response_guard_findings_total: FINDINGS },
  open: ({ counter }) => counter('gw_plugin_ai_response_guard_findings_total', FINDINGS),
  bind: () => new InitSlot<AnswerGuard>('host_ai_answers_open'),
  functions: {
    host_ai_answers_open: guards.open(
      'in `init`: opens the profiles of the whole config, with the properties of `ai-response-guard`; unusable ones reject the config',
      ({ config }, log, findings) =>
        new AnswerGuard(config.whole, { log, countFinding: (kind, action) => findings.count(kind, action) }),
      null,
    ),
    host_ai_answers_check: guards.settle(
      'host_ai_answers_check',
      'in `on_response`: 1: the answer is withheld, and a problem document has taken its place; 0: it goes on, with replacements by the config, also while it streams',
      (guard, exchange, call) => {
        call.charge(exchange.response.body?.length ?? 0);
        const { owner, name, config } = call.binding;
        if (isRealtime(exchange)) return unreadOpened(exchange, name, config.whole);
        return inTurns(guard.check(exchange, owner), () => !exchange.closed);
      },
    ),
  },
});
