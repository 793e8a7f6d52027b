/** `host_ai_cache_*`: stores answers of AI providers as they pass, and returns them for equal questions. */

import { type CounterInfo, capability, decodingCaller, InitSlot, OPENER, onlyIn } from '../../../../kit.ts';
import { decide } from '../decide.ts';
import { readsBody } from '../files-rule.ts';
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

export const aiCaching = capability({
  metrics: { gw_plugin_ai_cache_requests_total: REQUESTS, gw_plugin_ai_cache_embeddings_total: EMBEDDINGS },
  open: ({ state, http, counter }) => ({
    store: state.cache,
    http: decodingCaller(http),
    requests: counter('gw_plugin_ai_cache_requests_total', REQUESTS),
    embeddings: counter('gw_plugin_ai_cache_embeddings_total', EMBEDDINGS),
  }),
  bind: () => new InitSlot<AiCache>('host_ai_cache_open'),
  functions: {
    host_ai_cache_open: {
      ...OPENER,
      meaning:
        'in `init`: opens a cache as the whole config has it, with the properties of `ai-cache`; unusable ones reject the config',
      body: 'request_body',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().open(call, ({ config, services, name }) => {
            const implied = impliedUrl(config.whole);
            // A URL in the config was opened by its mark: unreachable ones are refused at load.
            if (implied !== null) services.openUpstream(implied, config.whole);
            call.bodyNeed = readsBody;
            return new AiCache(config.whole, {
              store: loaded.store,
              http: loaded.http,
              count: (result) => loaded.requests.count(result),
              embedded: (result) => loaded.embeddings.count(result),
              log: (level, message, exchange) => services.log(level, name, message, exchange),
            });
          }),
    },
    host_ai_cache_lookup: {
      signature: ':i',
      parameters: '() -> answered',
      meaning: 'in `on_request`: 1: a stored answer is the response; 0: the request goes on',
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { bound }) =>
        () => {
          onlyIn(call, 'on_request', 'host_ai_cache_lookup');
          const cache = bound().get('host_ai_cache_lookup');
          return decide(call, { body: (exchange) => cache.answer(exchange, call.binding.owner), files: cache.files });
        },
    },
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
