/** `host_ai_template_*`: templates of prompts to AI providers. */

import { type CounterInfo, capability, InitSlot, type LabelledCounter } from '../../../../kit.ts';
import { PolicyFunctions } from '../policy-functions.ts';
import { PromptTemplates, TEMPLATE_RESULTS } from './prompt-templates.ts';

const REQUESTS: CounterInfo = {
  help: 'Conversations that ai-prompt-template has seen',
  labels: {
    result: `result of the request: ${TEMPLATE_RESULTS.map((each) => `\`${each}\``).join(', ')} (\`filled\`: it named a template)`,
  },
};

const templates = new PolicyFunctions<LabelledCounter, InitSlot<PromptTemplates>, PromptTemplates>((slot) => slot);

export const aiTemplates = capability({
  metrics: { gw_plugin_ai_prompt_template_requests_total: REQUESTS },
  open: ({ counter }) => counter('gw_plugin_ai_prompt_template_requests_total', REQUESTS),
  bind: () => new InitSlot<PromptTemplates>('host_ai_template_open'),
  functions: {
    host_ai_template_open: templates.open(
      'in `init`: opens the templates and profiles of the whole config, with the properties of `ai-prompt-template`; unusable ones reject the config',
      ({ config }, log, requests) =>
        new PromptTemplates(config.whole, { log, count: (result) => requests.count(result) }),
    ),
    host_ai_template_apply: templates.decide(
      'host_ai_template_apply',
      'refused',
      'in `on_request`: 1: the request names no template that it may use, or its values are not valid, and a problem document says why; 0: it goes on with the prompt that the config makes of it',
      (policy) => ({ body: (exchange) => policy.apply(exchange), files: policy.files }),
    ),
  },
});
