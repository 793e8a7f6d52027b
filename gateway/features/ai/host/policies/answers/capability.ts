/** `host_ai_answers_open` and `host_ai_answers_check`: rules for answers of AI providers. */

import {
  type CounterInfo,
  capability,
  type Exchange,
  inTurns,
  type JsonObject,
  onlyIn,
  openedInInit,
} from '../../../../kit.ts';
import { settleAnswer } from '../decide.ts';
import { PII_KINDS } from '../pii/kinds.ts';
import { PII_ACTIONS } from '../pii/pii-rules.ts';
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

/** Objects that `init` has opened. */
interface Bound {
  guard: AnswerGuard | null;
}

export const aiAnswers = capability({
  metrics: { gw_plugin_ai_response_guard_findings_total: FINDINGS },
  open: ({ counter }) => counter('gw_plugin_ai_response_guard_findings_total', FINDINGS),
  bind: (): Bound => ({ guard: null }),
  functions: {
    host_ai_answers_open: {
      signature: ':i',
      parameters: '() -> 0',
      meaning:
        'in `init`: opens the profiles of the whole config, with the properties of `ai-response-guard`; unusable ones reject the config',
      declared: true,
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'init', 'host_ai_answers_open');
          const { config, services, name } = call.binding;
          bound().guard = new AnswerGuard(config.whole, {
            log: (level, message, exchange) => services.log(level, name, message, exchange),
            found: (kind, action) => loaded.count(kind, action),
          });
          return 0;
        },
    },
    host_ai_answers_check: {
      signature: ':i',
      parameters: '() -> refused',
      meaning:
        'in `on_response`: 1: the answer is withheld, and a problem document has taken its place; 0: it goes on, with replacements by the config, also while it streams',
      waits: true,
      declared: true,
      make:
        (call, { bound }) =>
        () => {
          const guard = openedInInit(bound().guard, 'host_ai_answers_check', 'host_ai_answers_open');
          const exchange = call.answeredRequest();
          call.charge(exchange.response.body?.length ?? 0);
          const { owner, name, config } = call.binding;
          if (isRealtime(exchange)) return settleAnswer(call, exchange, unreadOpened(exchange, name, config.whole));
          return settleAnswer(
            call,
            exchange,
            inTurns(guard.check(exchange, owner), () => !exchange.closed),
          );
        },
    },
  },
});
