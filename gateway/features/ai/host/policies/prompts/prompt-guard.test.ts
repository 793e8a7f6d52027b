import { expect, it } from 'vitest';
import { recordedExchange } from '../../../../../sdk/testing/recorder.ts';
import type { AiRefusal } from '../../proxy/conversation/refusal.ts';
import { promptTokens } from '../../proxy/token-estimate.ts';
import { PromptGuard } from './prompt-guard.ts';

const COUNT = 50_000;
const SETTINGS = { blocked_patterns: ['zq mark'], pii: { email: 'redact' } };

/** Runs all steps; returns the result, and how often they paused. */
function run<T>(steps: Generator<undefined, T>): { readonly result: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done) return { result: step.value, pauses };
  }
}

function check(body: object) {
  const guard = new PromptGuard(
    { default_profile: 'p', profiles: { p: SETTINGS } },
    { log: () => {}, countBlock: () => {} },
  );
  const exchange = recordedExchange({ path: '/v1/chat/completions' });
  exchange.body = Buffer.from(JSON.stringify(body));
  return run<AiRefusal | null>(guard.check(exchange, null));
}

const many = <T>(value: T): readonly T[] => Array.from({ length: COUNT }, () => value);

it.each<[string, object]>([
  ['objects', { metadata: many({}) }],
  ['lists', { metadata: many([]) }],
  ['texts', { metadata: many('a') }],
  [
    'names',
    {
      metadata: Object.fromEntries(
        many(1)
          .slice(0, 20_000)
          .map((value, i) => [`n${i}`, value]),
      ),
    },
  ],
  ['messages', { messages: many({}) }],
])('pauses while it looks through a great many %s', (_, body) => {
  const { result, pauses } = check({ model: 'm', ...body });
  expect(result).toBeNull();
  expect(pauses).toBeGreaterThan(COUNT / 2_048);
});

it('finds what stands behind a great many values', () => {
  const { result } = check({ model: 'm', metadata: [...many({}), 'the zq mark'] });
  expect(result?.problem).toMatchObject({ members: { error: { code: 'prompt_blocked' } } });
});

it('pauses while it counts the tokens of a great many values', () => {
  expect(run(promptTokens({ messages: many({}) })).pauses).toBeGreaterThan(COUNT / 2_048);
});
