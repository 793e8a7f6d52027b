import { describe, expect, it } from 'vitest';
import type { Steps } from '../../../../../src/scheduling/cooperative-scheduling.ts';
import { answerRules, GuardedText } from './answer-rules.ts';
import { GuardedStream } from './guarded-body.ts';
import type { Guarding } from './guarded-events.ts';

const rules = answerRules({ pii: { credit_card: 'redact', phone: 'redact' } }, 'key');
const begin = (isJson: boolean) => new GuardedText(rules, isJson, () => {});
const guarding: Guarding = {
  begin,
  *whole(text, isJson) {
    const guarded = begin(isJson);
    return (yield* guarded.push(text)) + guarded.end();
  },
};

/** How often others have a turn, and what the work gives. */
function pauses<T>(steps: Steps<T>): { readonly pauses: number; readonly value: T } {
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done) return { pauses: count, value: step.value };
  }
}

const DIGITS = '4111 1111 1111 1112 '.repeat(50_000);

describe('checking an answer', () => {
  it('pauses within one long text', () => {
    const { pauses: count, value } = pauses(guarding.whole(DIGITS, false));
    expect(count).toBeGreaterThan(50);
    expect(value).toBe(DIGITS);
  });

  it('pauses within a long event, and between short ones', () => {
    const event = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
    const long = new GuardedStream(guarding, () => {});
    expect(pauses(long.push(event(DIGITS))).pauses).toBeGreaterThan(50);
    const short = new GuardedStream(guarding, () => {});
    expect(pauses(short.push(event('1 ').repeat(500))).pauses).toBeGreaterThanOrEqual(500);
  });
});
