/** Metrics of the AI gateway. */

import type { CounterInfo, HistogramInfo, LabelledCounter, ProcessServices } from '../../../kit.ts';
import type { RealtimeUsage, Usage } from './conversation/usage.ts';
import type { Warning } from './surfaces/surface.ts';
import { PROVIDERS, type Provider } from './targets/provider.ts';
import { RESOLUTIONS } from './targets/resolution.ts';

/** Seconds: models take from tenths of one to minutes. */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];

const code = (values: readonly string[]) => values.map((each) => `\`${each}\``).join(', ');
const provider = `protocol of the provider: ${code(PROVIDERS)}`;

const REQUESTS: CounterInfo = {
  help: 'Requests to AI providers, by status of the answer; 502 if the answer was not valid',
  labels: { provider, status: 'status code of the answer; 499 where the client left before it' },
};
const DURATION: HistogramInfo = {
  help: 'Time from a request to an AI provider to the end of its answer',
  labels: { provider },
  buckets: BUCKETS,
};
const TOKENS: CounterInfo = {
  help: 'Tokens that AI providers counted',
  labels: {
    provider,
    type: '`prompt` or `completion`; in `…_token_details_total` `cached`, `reasoning`, `prompt_audio` or `completion_audio`',
  },
};
const DETAILS: CounterInfo = {
  help: 'Of those tokens: prompt tokens out of the cache of the provider, completion tokens of reasoning; of realtime sessions, tokens of audio',
  labels: TOKENS.labels,
};
const FALLBACKS: CounterInfo = {
  help: 'Requests that went to another AI provider, because one failed',
  labels: { from_provider: provider, to_provider: provider },
};
const RESOLVED: CounterInfo = {
  help: 'AI requests by what led to their target',
  labels: { resolution: `what led to a target of ai-proxy: ${code(RESOLUTIONS)}` },
};

const ENDPOINT_OUTCOMES = ['answered', 'limited', 'failed'] as const;
export type EndpointOutcome = (typeof ENDPOINT_OUTCOMES)[number];

const endpoint = 'name of the host in its base URL';

const ENDPOINTS: CounterInfo = {
  help: 'Requests to endpoints of AI providers, by result',
  labels: {
    endpoint,
    outcome: `${code(ENDPOINT_OUTCOMES)}; \`limited\` is a status 429`,
  },
};
const BREAKERS: CounterInfo = {
  help: 'Times that the circuit breaker of an endpoint of an AI provider has opened',
  labels: { endpoint },
};

const CATALOG_FAILURES: CounterInfo = {
  help: 'AI providers that did not answer when their models were listed',
  labels: { provider },
};

const STORE_DOWNGRADES: CounterInfo = {
  help: 'Responses that AI providers answered without `store` having an effect',
  labels: { provider },
};
const REASONING_DROPPED: CounterInfo = {
  help: 'Responses whose request had items of reasoning, which their AI provider does not take',
  labels: { provider },
};

const EFFORT_DROPPED: CounterInfo = {
  help: 'Messages whose request named an effort that the model does not take',
  labels: { provider },
};

const UNCOUNTED_RESPONSES: CounterInfo = {
  help: 'Events of realtime sessions that could not be read for what they cost, and responses whose AI provider counted nothing',
  labels: { provider },
};

const CACHE_DROPPED: CounterInfo = {
  help: 'Messages whose request had `cache_control`, for a provider that has no such marks',
  labels: { provider },
};

export const AI_METRICS = {
  gw_plugin_ai_proxy_requests_total: REQUESTS,
  gw_plugin_ai_proxy_request_duration_seconds: DURATION,
  gw_plugin_ai_proxy_tokens_total: TOKENS,
  gw_plugin_ai_proxy_token_details_total: DETAILS,
  gw_plugin_ai_proxy_fallback_total: FALLBACKS,
  gw_plugin_ai_proxy_resolution_total: RESOLVED,
  gw_plugin_ai_proxy_endpoint_requests_total: ENDPOINTS,
  gw_plugin_ai_proxy_endpoint_breaker_opened_total: BREAKERS,
  gw_plugin_ai_proxy_responses_store_downgrades_total: STORE_DOWNGRADES,
  gw_plugin_ai_proxy_responses_reasoning_dropped_total: REASONING_DROPPED,
  gw_plugin_ai_proxy_effort_dropped_total: EFFORT_DROPPED,
  gw_plugin_ai_proxy_cache_control_dropped_total: CACHE_DROPPED,
  gw_plugin_ai_proxy_models_provider_failures_total: CATALOG_FAILURES,
  gw_plugin_ai_proxy_realtime_uncounted_total: UNCOUNTED_RESPONSES,
};

export type AiMetrics = ReturnType<typeof aiMetrics>;

export function aiMetrics({ counter, histogram }: ProcessServices) {
  const requests = counter('gw_plugin_ai_proxy_requests_total', REQUESTS);
  const duration = histogram('gw_plugin_ai_proxy_request_duration_seconds', DURATION);
  const tokens = counter('gw_plugin_ai_proxy_tokens_total', TOKENS);
  const details = counter('gw_plugin_ai_proxy_token_details_total', DETAILS);
  const fallbacks = counter('gw_plugin_ai_proxy_fallback_total', FALLBACKS);
  const resolved = counter('gw_plugin_ai_proxy_resolution_total', RESOLVED);
  const endpoints = counter('gw_plugin_ai_proxy_endpoint_requests_total', ENDPOINTS);
  const breakers = counter('gw_plugin_ai_proxy_endpoint_breaker_opened_total', BREAKERS);
  const catalogFailures = counter('gw_plugin_ai_proxy_models_provider_failures_total', CATALOG_FAILURES);
  const uncounted = counter('gw_plugin_ai_proxy_realtime_uncounted_total', UNCOUNTED_RESPONSES);
  const warnings: Readonly<Record<Warning, LabelledCounter>> = {
    store: counter('gw_plugin_ai_proxy_responses_store_downgrades_total', STORE_DOWNGRADES),
    effort: counter('gw_plugin_ai_proxy_effort_dropped_total', EFFORT_DROPPED),
    cache: counter('gw_plugin_ai_proxy_cache_control_dropped_total', CACHE_DROPPED),
    reasoning: counter('gw_plugin_ai_proxy_responses_reasoning_dropped_total', REASONING_DROPPED),
  };
  const countTokens = (from: Provider, { prompt, completion, cached, reasoning }: Usage) => {
    tokens.add(prompt, from, 'prompt');
    tokens.add(completion, from, 'completion');
    details.add(cached, from, 'cached');
    details.add(reasoning, from, 'reasoning');
  };
  return {
    recordAnswer(from: Provider, status: number, seconds: number) {
      requests.count(from, String(status));
      duration.observe(seconds, from);
    },
    countTokens,
    /** A response of a realtime session. */
    countRealtimeTokens(from: Provider, usage: RealtimeUsage) {
      countTokens(from, usage);
      details.add(usage.promptAudio, from, 'prompt_audio');
      details.add(usage.completionAudio, from, 'completion_audio');
    },
    countUncounted: (from: Provider) => uncounted.count(from),
    countFallback: (from: Provider, to: Provider) => fallbacks.count(from, to),
    countEndpoint: (endpoint: string, outcome: EndpointOutcome) => endpoints.count(endpoint, outcome),
    countOpenBreaker: (endpoint: string) => breakers.count(endpoint),
    countResolution: (by: string) => resolved.count(by),
    countWarning: (of: Warning, by: Provider) => warnings[of].count(by),
    countCatalogFailure: (from: Provider) => catalogFailures.count(from),
  };
}
