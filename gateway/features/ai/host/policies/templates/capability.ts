/** `host_ai_template_*`: templates of prompts to AI providers. */

import { type CounterInfo, capability, InitSlot, OPENER, onlyIn } from '../../../../kit.ts';
import { decide } from '../decide.ts';
import { readsBody } from '../files-rule.ts';
import { PromptTemplates, TEMPLATE_RESULTS } from './prompt-templates.ts';

const REQUESTS: CounterInfo = {
  help: 'Conversations that ai-prompt-template has seen',
  labels: {
    result: `result of the request: ${TEMPLATE_RESULTS.map((each) => `\`${each}\``).join(', ')} (\`filled\`: it named a template)`,
  },
};

export const aiTemplates = capability({
  metrics: { gw_plugin_ai_prompt_template_requests_total: REQUESTS },
  open: ({ counter }) => counter('gw_plugin_ai_prompt_template_requests_total', REQUESTS),
  bind: () => new InitSlot<PromptTemplates>('host_ai_template_open'),
  functions: {
    host_ai_template_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the templates and profiles of the whole config, with the properties of `ai-prompt-template`; unusable ones reject the config',
      body: 'request_body',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().open(call, ({ config, services, name }) => {
            call.bodyNeed = readsBody;
            return new PromptTemplates(config.whole, {
              log: (level, message, exchange) => services.log(level, name, message, exchange),
              count: (result) => loaded.count(result),
            });
          }),
    },
    host_ai_template_apply: {
      signature: ':i',
      parameters: '() -> refused',
      meaning:
        'in `on_request`: 1: the request names no template that it may use, or its values are not valid, and a problem document says why; 0: it goes on with the prompt that the config makes of it',
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { bound }) =>
        () => {
          onlyIn(call, 'on_request', 'host_ai_template_apply');
          const templates = bound().get('host_ai_template_apply');
          return decide(call, { body: (exchange) => templates.apply(exchange), files: templates.files });
        },
    },
  },
});
