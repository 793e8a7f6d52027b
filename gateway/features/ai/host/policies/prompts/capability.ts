/**
 * `host_ai_prompt_*`: rules for prompts to AI providers, and personal data that are replaced there and restored in
 * answers.
 */

import { type CounterInfo, capability, type Exchange, InitSlot, inTurns, OPENER, onlyIn } from '../../../../kit.ts';
import { decide, settleAnswer } from '../decide.ts';
import { readsBody } from '../files-rule.ts';
import { BLOCK_REASONS, PromptGuard } from './prompt-guard.ts';

const BLOCKED: CounterInfo = {
  help: 'Requests to AI providers that ai-prompt-guard refused',
  labels: {
    reason: `which limit of ai-prompt-guard: ${BLOCK_REASONS.map((each) => `\`${each}\``).join(', ')} (a pattern took too many)`,
  },
};

export const aiPrompts = capability({
  metrics: { gw_plugin_ai_prompt_guard_blocked_total: BLOCKED },
  open: ({ counter }) => counter('gw_plugin_ai_prompt_guard_blocked_total', BLOCKED),
  bind: () => new InitSlot<PromptGuard>('host_ai_prompt_open'),
  functions: {
    host_ai_prompt_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the profiles of the whole config, with the properties of `ai-prompt-guard`; unusable ones reject the config',
      body: 'request_body',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().open(call, ({ config, services, name }) => {
            call.bodyNeed = readsBody;
            return new PromptGuard(config.whole, {
              log: (level, message, exchange) => services.log(level, name, message, exchange),
              blocked: (reason) => loaded.count(reason),
            });
          }),
    },
    host_ai_prompt_check: {
      signature: ':i',
      parameters: '() -> refused',
      meaning:
        'in `on_request`: 1: the prompt is not allowed, and a problem document says why; 0: it is allowed, or the request has no prompt',
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { bound }) =>
        () => {
          onlyIn(call, 'on_request', 'host_ai_prompt_check');
          const guard = bound().get('host_ai_prompt_check');
          const check = (exchange: Exchange) =>
            inTurns(guard.check(exchange, call.binding.owner), () => !exchange.closed);
          return decide(call, { body: check, files: guard.files });
        },
    },
    host_ai_prompt_restore: {
      signature: ':i',
      parameters: '() -> refused',
      meaning:
        'in `on_response`: puts back into the answer what `host_ai_prompt_check` has taken out of the prompt, also where it streams. 1: there is no room for it, and a problem document has taken its place',
      waits: true,
      declared: true,
      make:
        (call, { bound }) =>
        () => {
          const guard = bound().get('host_ai_prompt_restore');
          const exchange = call.answeredRequest();
          return settleAnswer(
            call,
            exchange,
            inTurns(guard.restore(exchange, call.binding.owner), () => !exchange.closed),
          );
        },
    },
  },
});
