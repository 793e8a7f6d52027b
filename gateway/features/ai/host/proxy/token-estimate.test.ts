import { expect, it } from 'vitest';
import { recordedExchange } from '../../../../sdk/testing/recorder.ts';
import { TokenEstimate } from './token-estimate.ts';

it.each([
  ['/v1/chat/completions', { max_tokens: 100 }, 100],
  ['/v1/chat/completions', { max_completion_tokens: 5, max_tokens: 100 }, 100],
  ['/v1/chat/completions', { max_output_tokens: 1 }, null],
  ['/v1/chat/completions', { max_output_tokens: 1, max_tokens: 100, n: 2 }, 200],
  ['/v1/messages', { max_tokens: 100, max_completion_tokens: 1_000 }, 100],
  ['/v1/messages', { max_output_tokens: 1 }, null],
  ['/v1/responses', { max_output_tokens: 100 }, 100],
  ['/v1/responses', { max_tokens: 1 }, null],
])('a request to %s with %j is limited as its surface has it', async (path, request, limit) => {
  expect((await TokenEstimate.begin(recordedExchange({ path }), request)).limit).toBe(limit);
});
