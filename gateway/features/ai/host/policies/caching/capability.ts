/** `host_ai_cache_*`: stores answers of AI providers as they pass, and returns them for equal questions. */

import { type CounterInfo, capability, decodingCaller, InitSlot, type ProcessServices } from '../../../../kit.ts';
import { PolicyFunctions } from '../policy-functions.ts';
import { AiCache } from './ai-cache.ts';
import { impliedUrl } from './cache-settings.ts';
import { CACHE_RESULTS } from './cached-request.ts';
import { EMBEDDING_RESULTS } from './embedder.ts';

const REQUESTS: CounterInfo = {
  help: 'Requests that ai-cache has seen',
  labels: {
    result: `result of the request: ${CACHE_RESULTS.map((each) => `\`${each}\``).join(', ')} (\`similar\`: it got the answer to a question that means the same; \`request\`: it asked for a fresh answer, or for no storing; \`bypass\`: requests of its kind are not cached)`,
  },
};

const EMBEDDINGS: CounterInfo = {
  help: 'Embeddings that ai-cache has asked for',
  labels: {
    result: `what came of it: ${EMBEDDING_RESULTS.map((each) => `\`${each}\``).join(', ')} (\`rejected\`: the provider answered with something else; \`resting\`: it failed repeatedly, and is left alone for a while)`,
  },
};

function open({ state, http, counter }: ProcessServices) {
  return {
    store: state.cache,
    http: decodingCaller(http),
    requests: counter('gw_plugin_ai_cache_requests_total', REQUESTS),
    embeddings: counter('gw_plugin_ai_cache_embeddings_total', EMBEDDINGS),
  };
}

const caches = new PolicyFunctions<ReturnType<typeof open>, InitSlot<AiCache>, AiCache>((slot) => slot);

export const aiCaching = capability({
  metrics: { gw_plugin_ai_cache_requests_total: REQUESTS, gw_plugin_ai_cache_embeddings_total: EMBEDDINGS },
  open,
  bind: () => new InitSlot<AiCache>('host_ai_cache_open'),
  functions: {
    host_ai_cache_open: caches.open(
      'in `init`: opens a cache as the whole config has it, with the properties of `ai-cache`; unusable ones reject the config',
      ({ config, services }, log, { store, http, requests, embeddings }) => {
        const implied = impliedUrl(config.whole);
        // A URL in the config was opened by its mark: unreachable ones are refused at load.
        if (implied !== null) services.openUpstream(implied, config.whole);
        return new AiCache(config.whole, {
          store,
          http,
          count: (result) => requests.count(result),
          countEmbedding: (result) => embeddings.count(result),
          log,
        });
      },
    ),
    host_ai_cache_lookup: caches.decide(
      'host_ai_cache_lookup',
      'answered',
      'in `on_request`: 1: a stored answer is the response; 0: the request goes on',
      (cache, { binding }) => ({ body: (exchange) => cache.answer(exchange, binding.owner), files: cache.files }),
    ),
    host_ai_cache_settle: {
      signature: ':i',
      parameters: '() -> 0',
      meaning: 'in `on_response`, always: stores the answer if it may be stored, its body as it passes',
      declared: true,
      make:
        (call, { bound }) =>
        () => {
          bound().get('host_ai_cache_settle').settle(call.answeredRequest());
          return 0;
        },
    },
  },
});
