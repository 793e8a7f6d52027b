import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../../../../../test/at-once.ts';
import { propertyRuns } from '../../../../../../test/property-runs.ts';
import { GuardedStream } from '../answers/guarded-body.ts';
import { restoring } from './restored-text.ts';

const values = new Map([
  ['[EMAIL_abcdefghij]', 'ann@example.com'],
  ['[API_KEY_abcdefghij]', 'quote " backslash \\ tab \t [EMAIL_abcdefghij]'],
  ['[NATIONAL_ID:3f0c9a1b2d4e]', '123-45-6789'],
]);
const guarding = restoring(values);
const whole = (text: string, isJson = false) => atOnce(guarding.whole(text, isJson));

function inPieces(text: string, places: readonly number[], isJson: boolean): string {
  const stream = guarding.begin(isJson);
  const cuts = [...new Set(places.map((each) => each % (text.length + 1)))].sort((a, b) => a - b);
  let [out, from] = ['', 0];
  for (const cut of [...cuts, text.length]) {
    out += atOnce(stream.push(text.slice(from, cut)));
    from = cut;
  }
  return out + stream.end();
}

const part = fc.oneof(
  fc.constantFrom(...values.keys()),
  fc.constantFrom(
    '[',
    ']',
    '[[',
    '[EMAIL_',
    'EMAIL_abcdefghij]',
    '[EMAIL_zzzzzzzzzz]',
    '[a](b)',
    '[EMAIL]',
    ' ',
    '😀',
    '\n',
  ),
  fc.string({ maxLength: 6 }),
);
const text = fc.array(part, { maxLength: 9 }).map((parts) => parts.join(''));
const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe('a text with placeholders', () => {
  it('has their values, each of its own, and what only looks like one stays', () => {
    expect(whole('Mail [EMAIL_abcdefghij], [[NATIONAL_ID:3f0c9a1b2d4e]] [EMAIL_zzzzzzzzzz] [EMAIL] [EMAIL_abcd')).toBe(
      'Mail ann@example.com, [123-45-6789] [EMAIL_zzzzzzzzzz] [EMAIL] [EMAIL_abcd',
    );
  });

  it('is not read a second time: what a value has stays', () => {
    expect(whole('[API_KEY_abcdefghij]')).toBe(values.get('[API_KEY_abcdefghij]'));
  });

  it('stays JSON where it is JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), text, (value, said) => {
        const restored: unknown = JSON.parse(whole(JSON.stringify({ said, value }), true));
        expect(restored).toEqual(JSON.parse(JSON.stringify({ said: whole(said), value: restoredIn(value) })));
      }),
      propertyRuns(500),
    );
  });

  it('is the same wherever it is cut', () => {
    fc.assert(
      fc.property(text, cuts, fc.boolean(), (given, places, isJson) => {
        expect(inPieces(given, places, isJson)).toBe(whole(given, isJson));
      }),
      propertyRuns(3000),
    );
  });

  it('holds back no more than what may still become one', () => {
    const stream = guarding.begin(false);
    expect(atOnce(stream.push('See [EMAIL_abc'))).toBe('See ');
    expect(atOnce(stream.push(' no'))).toBe('[EMAIL_abc no');
    expect(atOnce(stream.push(` [${'a'.repeat(40)}`))).toBe(` [${'a'.repeat(40)}`);
  });
});

function restoredIn(value: unknown): unknown {
  if (typeof value === 'string') return whole(value);
  if (Array.isArray(value)) return value.map(restoredIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [whole(name), restoredIn(each)]));
}

describe('a stream of events', () => {
  const event = (value: object, type = '') =>
    `${type === '' ? '' : `event: ${type}\n`}data: ${JSON.stringify(value)}\n\n`;
  const pieces = (said: string, size: number) => said.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
  const SURFACES: Readonly<Record<string, (said: string, size: number) => string>> = {
    chat: (said, size) =>
      [
        ...pieces(said, size).map((content) =>
          event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
        ),
        ...pieces(JSON.stringify({ said }), size).map((each) =>
          event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: each } }] } }] }),
        ),
        event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
        'data: [DONE]\n\n',
      ].join(''),
    messages: (said, size) =>
      [
        ...pieces(said, size).map((each) =>
          event(
            { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: each } },
            'content_block_delta',
          ),
        ),
        event({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
        ...pieces(JSON.stringify({ said }), size).map((partial_json) =>
          event(
            { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json } },
            'content_block_delta',
          ),
        ),
        event({ type: 'content_block_stop', index: 1 }, 'content_block_stop'),
        event({ type: 'message_stop' }, 'message_stop'),
      ].join(''),
  };

  /** All that the deltas say together: text, and arguments of a call. */
  function said(stream: string): readonly [string, string] {
    let [told, called] = ['', ''];
    for (const [, data = ''] of stream.matchAll(/^data: (\{.*)$/gm)) {
      const { choices, delta } = JSON.parse(data);
      const one = choices?.[0]?.delta ?? delta ?? {};
      told += one.content ?? one.text ?? '';
      called +=
        one.tool_calls?.map((each: { function: { arguments: string } }) => each.function.arguments).join('') ?? '';
      called += one.partial_json ?? '';
    }
    return [told, called];
  }

  it.each(Object.keys(SURFACES))(
    'of %s says the same wherever its bytes are cut, in text and in arguments of calls',
    (surface) => {
      fc.assert(
        fc.property(text, fc.integer({ min: 1, max: 30 }), cuts, (given, size, places) => {
          const stream = SURFACES[surface]?.(given.toWellFormed(), size) ?? '';
          const guarded = new GuardedStream(guarding, () => {});
          const decoder = new TextDecoder();
          const bytes = Buffer.from(stream);
          const ends = [...places.map((each) => each % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
          let [out, from] = ['', 0];
          for (const end of ends) {
            out += atOnce(guarded.push(decoder.decode(bytes.subarray(from, end), { stream: true })));
            from = end;
          }
          out += atOnce(guarded.push(decoder.decode())) + atOnce(guarded.end());
          const [told, called] = said(out);
          expect(told).toBe(whole(given.toWellFormed()));
          expect(JSON.parse(called || '{"said":""}')).toEqual({ said: whole(given.toWellFormed()) });
        }),
        propertyRuns(300),
      );
    },
  );
});
