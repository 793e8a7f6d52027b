/** `host_ai_open` and `host_ai_answer`: requests to AI providers, their translation, and the counts of their tokens. */

import { capability, decodingCaller, HostCallError, InitSlot, OPENER, type ProcessServices } from '../../../kit.ts';
import { AiProxy } from './ai-proxy.ts';
import { filesRequest } from './files/files-request.ts';
import { AI_METRICS, aiMetrics } from './metrics.ts';
import { problemInForm } from './surfaces/problem-for.ts';
import { aiSettings, impliedUrls } from './targets/settings.ts';

export const ai = capability({
  metrics: AI_METRICS,
  open: (process: ProcessServices) => ({
    http: decodingCaller(process.http),
    metrics: aiMetrics(process),
    reservations: process.state.reservations,
  }),
  bind: () => new InitSlot<AiProxy>('host_ai_open'),
  functions: {
    host_ai_open: {
      ...OPENER,
      meaning:
        'in `init`: opens the providers that the whole config describes, with the properties of `ai-proxy`; unusable settings reject the config',
      body: 'request_body',
      make:
        (call, { loaded, bound }) =>
        () =>
          bound().open(call, ({ config, services, name }) => {
            // URLs in the config were opened by their marks: unreachable ones are refused at load.
            for (const url of impliedUrls(config.whole)) services.openUpstream(url, config.whole);
            call.problemForm = problemInForm;
            // Files are passed on as they come.
            call.bodyNeed = (exchange) => filesRequest(exchange)?.operation !== 'upload';
            return new AiProxy(aiSettings(config.whole), {
              ...loaded,
              log: (level, message, exchange) => services.log(level, name, message, exchange),
            });
          }),
    },
    host_ai_answer: {
      signature: ':i',
      parameters: '() -> 0',
      meaning:
        "hands the request off: the host asks the provider that it resolves to, translates where their protocols differ, and answers as the provider's answer comes",
      declared: true,
      relays: true,
      make:
        (call, { bound }) =>
        () => {
          if (call.hook !== 'dispatch') throw new HostCallError(`host_ai_answer is for dispatchers, not ${call.hook}`);
          const proxy = bound().get('host_ai_answer');
          call.request().engine = proxy;
          call.handedOff = true;
          return 0;
        },
    },
  },
});
