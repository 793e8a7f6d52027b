import { describe, expect, it } from 'vitest';
import { chatUsage, messageUsage, NO_COUNTS, responseUsage, totalOf } from './usage.ts';

const ABSURD = [1e300, -1, 0.5, '9', Number.NaN, {}, [7], true, Number.MAX_SAFE_INTEGER];

describe('a count of tokens', () => {
  it.each(ABSURD)('that cannot be is none: %j', (count) => {
    expect(chatUsage({ prompt_tokens: count, completion_tokens: 8 })).toBeNull();
    expect(chatUsage({ prompt_tokens: 8, completion_tokens: count })).toBeNull();
    expect(chatUsage({ prompt_tokens: 8, prompt_tokens_details: { cached_tokens: count } })).toBeNull();
    expect(responseUsage({ input_tokens: 8, output_tokens: count })).toBeNull();
    expect(totalOf(messageUsage({ input_tokens: 8, output_tokens: count }))).toBeNull();
  });

  it('that is absent or zero is none; of what has no completion, it is that of the prompt', () => {
    for (const usage of [null, undefined, {}, { prompt_tokens: 0, completion_tokens: 0 }]) {
      expect(chatUsage(usage)).toBeNull();
    }
    expect(totalOf(NO_COUNTS)).toBeNull();
    expect(chatUsage({ prompt_tokens: 8, completion_tokens: null })).toMatchObject({ prompt: 8, completion: 0 });
  });

  it('of a stream of messages is that of its end', () => {
    const begun = messageUsage({ input_tokens: '9', output_tokens: 1 });
    expect(totalOf(begun)).toBeNull();
    expect(totalOf(messageUsage({ input_tokens: 9, output_tokens: 5 }, begun))).toMatchObject({
      prompt: 9,
      completion: 5,
    });
  });
});
