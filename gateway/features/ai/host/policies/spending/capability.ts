/** `host_ai_tokens_*` and `host_ai_costs_*`: limits on the spending of requests to AI providers. */

import { type CounterInfo, capability, InitSlot, type ProcessServices } from '../../../../kit.ts';
import { surfaceOf } from '../../proxy/surfaces/surface-of.ts';
import type { Rule, Rules } from '../decide.ts';
import { PolicyFunctions } from '../policy-functions.ts';
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

function open({ state, counter }: ProcessServices) {
  return {
    spending: new Spending(state.budgets),
    cost: counter('gw_plugin_ai_cost_tracker_cost_usd_total', COST),
    overBudget: counter('gw_plugin_ai_cost_tracker_refused_total', OVER_BUDGET),
    limited: counter('gw_plugin_ai_token_limit_refused_total', LIMITED),
    consumers: new ConsumerLabels(),
  };
}

const bind = () => ({
  limit: new InitSlot<TokenLimit>('host_ai_tokens_open'),
  tracker: new InitSlot<CostTracker>('host_ai_costs_open'),
});

const limits = new PolicyFunctions<ReturnType<typeof open>, ReturnType<typeof bind>, TokenLimit>(({ limit }) => limit);
const trackers = new PolicyFunctions<ReturnType<typeof open>, ReturnType<typeof bind>, CostTracker>(
  ({ tracker }) => tracker,
);

export const aiSpending = capability({
  metrics: {
    gw_plugin_ai_cost_tracker_cost_usd_total: COST,
    gw_plugin_ai_cost_tracker_refused_total: OVER_BUDGET,
    gw_plugin_ai_token_limit_refused_total: LIMITED,
  },
  open,
  drain: ({ spending }, withinMs) => spending.drain(withinMs),
  bind,
  functions: {
    host_ai_tokens_open: limits.open(
      'in `init`: opens the quotas of the whole config, with the properties of `ai-token-limit`; unusable ones reject the config',
      ({ config }, log, { spending, limited }) =>
        new TokenLimit(config.whole, spending, {
          log: (message, exchange) => log('warn', message, exchange),
          countRefusal: () => limited.count(),
        }),
    ),
    host_ai_tokens_reserve: limits.decide(
      'host_ai_tokens_reserve',
      'refused',
      'in `on_request`: 1: the request does not fit into its quota, and a problem document says so; 0: its tokens are reserved, and settled when it has ended',
      reservation,
    ),
    host_ai_costs_open: trackers.open(
      'in `init`: opens the prices and budgets of the whole config, with the properties of `ai-cost-tracker`; unusable ones reject the config',
      ({ config }, log, { consumers, cost, spending, overBudget }) => {
        const labelOf = consumers.ofConfig();
        return new CostTracker(config.whole, spending, {
          log: (message, exchange) => log('warn', message, exchange),
          countRefusal: () => overBudget.count(),
          countCost(dollars, provider, model, consumer) {
            cost.add(dollars, provider, model, labelOf(consumer));
          },
        });
      },
    ),
    host_ai_costs_reserve: trackers.decide(
      'host_ai_costs_reserve',
      'refused',
      'in `on_request`: 1: the request does not fit into a budget, and a problem document says so; 0: its cost is reserved, and counted when it has ended',
      reservation,
    ),
  },
});

/** Requests that only count tokens are exempt. */
function reservation(policy: TokenLimit | CostTracker): Rules {
  const reserve: Rule = (exchange) => (surfaceOf(exchange.path) === 'counting' ? null : policy.reserve(exchange));
  return { body: reserve, files: policy.files, session: reserve };
}
