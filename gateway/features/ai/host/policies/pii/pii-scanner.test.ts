import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../../test/property-runs.ts';
import { PII_KINDS, type PiiKind } from './kinds.ts';
import { PiiRules } from './pii-rules.ts';
import { PiiScanner } from './pii-scanner.ts';
import { HARMLESS, PERSONAL, SENTENCES } from './pii-table.test-support.ts';

const KEY = 'a key for hashes';
const all = (action: string) => new PiiRules(Object.fromEntries(PII_KINDS.map((kind) => [kind, action])), KEY);
const redacts = all('redact');

function whole(text: string, rules = redacts, isJson = false): { readonly text: string; readonly kinds: PiiKind[] } {
  const kinds: PiiKind[] = [];
  return { text: PiiScanner.whole(rules, text, isJson, ({ kind }) => kinds.push(kind)), kinds };
}

function inPieces(text: string, cuts: readonly number[], rules = redacts, isJson = false): string {
  const scanner = new PiiScanner(rules, isJson, () => {});
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length];
  return places.map((at, i) => scanner.push(text.slice(places[i - 1] ?? 0, at))).join('') + scanner.end();
}

describe('personal data', () => {
  it.each(PII_KINDS)('of the kind %s are found, and what only looks so is not', (kind) => {
    const positive = PERSONAL[kind].flatMap((value) => SENTENCES.map((sentence) => sentence(value)));
    const negative = HARMLESS[kind].flatMap((value) => SENTENCES.map((sentence) => sentence(value)));
    expect([positive.length, negative.length]).toEqual([50, 50]);
    const finds = (text: string) => {
      const { kinds, text: rest } = whole(text);
      return kinds.length > 0 && kinds.every((each) => each === kind) && rest.includes(`[${kind.toUpperCase()}]`);
    };
    const missed = positive.filter((text) => !finds(text));
    const wrong = negative.filter((text) => whole(text).kinds.length > 0);
    const found = positive.length - missed.length;
    const [precision, recall] = [found / (found + wrong.length), found / positive.length];
    process.stdout.write(`${kind}: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}\n`);
    expect({ missed, wrong }).toEqual({ missed: [], wrong: [] });
  });

  it('leave nothing of themselves', () => {
    for (const value of Object.values(PERSONAL).flat()) expect(whole(`<${value}>`).text).toMatch(/^<\[[A-Z_]+\]>$/);
  });

  it.each([
    ['mask', 'ann@example.com', 'a***@example.com'],
    ['mask', '4111 1111 1111 1111', '**** **** **** 1111'],
    ['mask', '+1 415 555 0132', '+* *** *** 0132'],
    ['redact', 'ann@example.com, bob@example.com', '[EMAIL], [EMAIL]'],
  ])('%s %s', (action, text, expected) => {
    expect(whole(text, all(action)).text).toBe(expected);
  });

  it('have one hash however they are written, and another by another key', () => {
    const [one, other] = [all('hash'), new PiiRules({ email: 'hash' }, 'another key of them')];
    const hash = whole('ann@example.com', one).text;
    expect(hash).toMatch(/^\[EMAIL:[0-9a-f]{12}\]$/);
    expect(whole('ANN@Example.com', one).text).toBe(hash);
    expect(whole('ann@example.com', other).text).not.toBe(hash);
    expect(whole('4111111111111111', one).text).toBe(whole('4111-1111-1111-1111', one).text);
    expect(() => new PiiRules({ email: 'hash' }, undefined)).toThrow('hash_key');
  });

  it('are found in JSON, which stays JSON', () => {
    const text = JSON.stringify({
      to: 'ann@example.com',
      note: 'x\nann@example.com\\bob@example.com',
      card: 4111111111111111,
    });
    const { text: rewritten } = whole(text, redacts, true);
    expect(JSON.parse(rewritten)).toEqual({ to: '[EMAIL]', note: 'x\n[EMAIL]\\[EMAIL]', card: '[CARD]' });
  });
});

describe('a text in pieces', () => {
  const values = [...Object.values(PERSONAL).flat(), ...Object.values(HARMLESS).flat()];
  const part = fc.oneof(
    fc.constantFrom(...values),
    fc.constantFrom(...values).chain((value) => fc.nat(value.length).map((end) => value.slice(0, end))),
    fc.constantFrom(
      ' ',
      '\n',
      ', ',
      '-',
      '.',
      '"',
      '\\',
      '(',
      ')',
      '+',
      '0',
      'AB ',
      '1 ',
      'é',
      '😀',
      '/',
      '@',
      '://',
      '',
    ),
    fc.string({ maxLength: 6 }),
  );
  const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  const cuts = fc.array(fc.nat(), { maxLength: 10 });

  it('has the same redactions, wherever it is cut', () => {
    fc.assert(
      fc.property(text, cuts, fc.boolean(), (given, places, isJson) => {
        expect(inPieces(given, places, redacts, isJson)).toBe(whole(given, redacts, isJson).text);
      }),
      propertyRuns(5000),
    );
  });

  it('has them character by character', () => {
    for (const value of values) {
      for (const sentence of SENTENCES) {
        const given = sentence(value);
        expect(
          inPieces(
            given,
            [...given].map((_, i) => i),
          ),
        ).toBe(whole(given).text);
      }
    }
  });

  it('stays JSON where it is JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.maxSafeInteger())), cuts, (value, places) => {
        const rewritten = inPieces(JSON.stringify(value), places, redacts, true);
        expect(() => JSON.parse(rewritten)).not.toThrow();
      }),
      propertyRuns(2000),
    );
  });

  it('is held back only as far as it may become one', () => {
    const scanner = new PiiScanner(redacts, false, () => {});
    expect(scanner.push('Hello there, ann')).toBe('Hello there, ');
    expect(scanner.push('@exam')).toBe('');
    expect(scanner.push('ple.com. Bye')).toBe('[EMAIL]. ');
    expect(scanner.end()).toBe('Bye');
  });

  it('costs time by its length, whatever it is', () => {
    for (const piece of ['1 ', 'a', '+1-', 'a@', 'A1', '(12', 'sk-a', 'DE89 ']) {
      const long = piece.repeat(200_000 / piece.length);
      const scanner = new PiiScanner(redacts, false, () => {});
      let length = 0;
      for (let at = 0; at < long.length; at += 10) length += scanner.push(long.slice(at, at + 10)).length;
      expect(length + scanner.end().length, piece).toBeGreaterThan(0);
    }
  });
});
