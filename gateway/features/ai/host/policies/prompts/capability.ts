/**
 * `host_ai_prompt_*`: rules for prompts to AI providers, and personal data that are replaced there and restored in
 * answers.
 */

import { type CounterInfo, capability, InitSlot, inTurns, type LabelledCounter } from '../../../../kit.ts';
import { PolicyFunctions } from '../policy-functions.ts';
import { BLOCK_REASONS, PromptGuard } from './prompt-guard.ts';

const BLOCKED: CounterInfo = {
  help: 'Requests to AI providers that ai-prompt-guard refused',
  labels: {
    reason: `which limit of ai-prompt-guard: ${BLOCK_REASONS.map((each) => `\`${each}\``).join(', ')} (a pattern took too many)`,
  },
};

const guards = new PolicyFunctions<LabelledCounter, InitSlot<PromptGuard>, PromptGuard>((slot) => slot);

export const aiPrompts = capability({
  metrics: { gw_plugin_ai_prompt_guard_blocked_total: BLOCKED },
  open: ({ counter }) => counter('gw_plugin_ai_prompt_guard_blocked_total', BLOCKED),
  bind: () => new InitSlot<PromptGuard>('host_ai_prompt_open'),
  functions: {
    host_ai_prompt_open: guards.open(
      'in `init`: opens the profiles of the whole config, with the properties of `ai-prompt-guard`; unusable ones reject the config',
      ({ config }, log, counter) =>
        new PromptGuard(config.whole, { log, countBlock: (reason) => counter.count(reason) }),
    ),
    host_ai_prompt_check: guards.decide(
      'host_ai_prompt_check',
      'refused',
      'in `on_request`: 1: the prompt is not allowed, and a problem document says why; 0: it is allowed, or the request has no prompt',
      (guard, { binding }) => ({
        body: (exchange) => inTurns(guard.check(exchange, binding.owner), () => !exchange.closed),
        files: guard.files,
      }),
    ),
    host_ai_prompt_restore: guards.settle(
      'host_ai_prompt_restore',
      'in `on_response`: puts back into the answer what `host_ai_prompt_check` has taken out of the prompt, also where it streams. 1: there is no room for it, and a problem document has taken its place',
      (guard, exchange, { binding }) => inTurns(guard.restore(exchange, binding.owner), () => !exchange.closed),
    ),
  },
});
