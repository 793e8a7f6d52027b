/** `host_ai_tokens_*` and `host_ai_costs_*`: limits on the spending of requests to AI providers. */

import { type CounterInfo, capability, InitSlot, OPENER, onlyIn, type ProcessServices } from '../../../../kit.ts';
import { surfaceOf } from '../../proxy/surfaces/surface-of.ts';
import { decide, type Rule } from '../decide.ts';
import { readsBody } from '../files-rule.ts';
import { ConsumerLabels, OTHER } from './consumer-labels.ts';
import { CostTracker } from './cost-tracker.ts';
import { Spending } from './spending.ts';
import { TokenLimit } from './token-limit.ts';

const COST: CounterInfo = {
  help: 'Cost of requests to AI providers by the prices of ai-cost-tracker, in dollars',
  labels: {
    provider: 'protocol of the provider',
    model: `entry of the price list; \`${OTHER}\` without a price`,
    consumer: `who was authenticated, empty for none; the first 1000 of a config at most, then \`${OTHER}\``,
  },
};
const LIMITED: CounterInfo = {
  help: 'Requests that ai-token-limit refused, and realtime sessions that it ended',
  labels: {},
};
const OVER_BUDGET: CounterInfo = {
  help: 'Requests that a budget of ai-cost-tracker refused, and realtime sessions that one ended',
  labels: {},
};

/** Exempts requests that only count tokens. */
function unlessCounting(rule: Rule): Rule {
  return (exchange) => (surfaceOf(exchange.path) === 'counting' ? null : rule(exchange));
}

export const aiSpending = capability({
  metrics: {
    gw_plugin_ai_cost_tracker_cost_usd_total: COST,
    gw_plugin_ai_cost_tracker_refused_total: OVER_BUDGET,
    gw_plugin_ai_token_limit_refused_total: LIMITED,
  },
  open: ({ state, counter }: ProcessServices) => ({
    spending: new Spending(state.budgets),
    cost: counter('gw_plugin_ai_cost_tracker_cost_usd_total', COST),
    overBudget: counter('gw_plugin_ai_cost_tracker_refused_total', OVER_BUDGET),
    limited: counter('gw_plugin_ai_token_limit_refused_total', LIMITED),
    consumers: new ConsumerLabels(),
  }),
  drain: ({ spending }, withinMs) => spending.drain(withinMs),
  bind: () => ({
    tokens: new InitSlot<TokenLimit>('host_ai_tokens_open'),
    costs: new InitSlot<CostTracker>('host_ai_costs_open'),
  }),
  functions: {
    host_ai_tokens_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the quotas of the whole config, with the properties of `ai-token-limit`; unusable ones reject the config',
      body: 'request_body',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().tokens.open(call, ({ config, services, name }) => {
            call.bodyNeed = readsBody;
            return new TokenLimit(config.whole, loaded.spending, {
              log: (message, exchange) => services.log('warn', name, message, exchange),
              refused: () => loaded.limited.count(),
            });
          }),
    },
    host_ai_tokens_reserve: {
      signature: ':i',
      parameters: '() -> refused',
      meaning:
        'in `on_request`: 1: the request does not fit into its quota, and a problem document says so; 0: its tokens are reserved, and settled when it has ended',
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { bound }) =>
        () => {
          onlyIn(call, 'on_request', 'host_ai_tokens_reserve');
          const tokens = bound().tokens.get('host_ai_tokens_reserve');
          const body = unlessCounting((exchange) => tokens.reserve(exchange));
          return decide(call, { body, files: tokens.files, session: body });
        },
    },
    host_ai_costs_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the prices and budgets of the whole config, with the properties of `ai-cost-tracker`; unusable ones reject the config',
      body: 'request_body',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().costs.open(call, ({ config, services, name }) => {
            call.bodyNeed = readsBody;
            const { consumers, cost, spending, overBudget } = loaded;
            const labelOf = consumers.ofConfig();
            return new CostTracker(config.whole, spending, {
              log: (message, exchange) => services.log('warn', name, message, exchange),
              refused: () => overBudget.count(),
              spent(dollars, provider, model, consumer) {
                cost.add(dollars, provider, model, labelOf(consumer));
              },
            });
          }),
    },
    host_ai_costs_reserve: {
      signature: ':i',
      parameters: '() -> refused',
      meaning:
        'in `on_request`: 1: the request does not fit into a budget, and a problem document says so; 0: its cost is reserved, and counted when it has ended',
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { bound }) =>
        () => {
          onlyIn(call, 'on_request', 'host_ai_costs_reserve');
          const costs = bound().costs.get('host_ai_costs_reserve');
          const body = unlessCounting((exchange) => costs.reserve(exchange));
          return decide(call, { body, files: costs.files, session: body });
        },
    },
  },
});
