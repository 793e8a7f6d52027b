/** The router against one that tries every template, on paths that clients make up. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { inTime } from '../../../test/time-limit.ts';
import { Router } from './router.ts';
import { decodePath, decodeSegment, parseTemplate, type Segment, TemplateError } from './template.ts';

const literal = fc.constantFrom('a', 'b', 'ä', 'a b', 'v1.0', '%61', 'a%2Fb', '.json', '');
const segment = fc.oneof(
  literal,
  fc.constant('{p}'),
  fc.constantFrom('{p}.json', 'v{p}', '{p}-{p}', 'a{p}b{p}c', '{p}.{p}.json', '%61{p}', '{p}-ä', '@{p}', '{p}6{p}'),
);
/** Parameters are numbered, so that no name stands twice. */
const template = fc.tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.boolean()).map(([parts, greedy]) => {
  let count = 0;
  const numbered = [...parts, ...(greedy ? ['{p+}'] : [])].join('/').replaceAll(/\{p/g, () => `{p${count++}`);
  return `/${numbered}`;
});
const piece = fc.constantFrom(
  'a',
  'b',
  'c',
  'v1',
  '.',
  '-',
  '.json',
  '%61',
  '%C3%A4',
  'ä',
  '%2F',
  '%2D',
  '%2ejson',
  '@',
  '%40',
  '%2e',
  '..',
  '%',
  '%ff',
  '+',
  ' ',
  '',
);
const pathSegment = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
const path = fc.array(pathSegment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`);
const methods = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE');

interface Fit {
  /** Of each segment: the first that differs decides, and the lesser wins. */
  readonly rank: readonly string[];
  readonly values: readonly string[];
}

/** How a template fits a path; null where it does not. */
function match(template: string, path: string): Fit | null {
  const { segments } = parseTemplate(template);
  const parts = path.slice(1).split('/');
  const values: string[] = [];
  const rank: string[] = [];
  for (const [i, segment] of segments.entries()) {
    if (segment.kind === 'greedy') {
      const rest = parts.slice(i).join('/');
      return i < parts.length && rest !== '' ? { rank: [...rank, '9'], values: [...values, rest] } : null;
    }
    const part = parts[i];
    const found = part === undefined ? null : matchSegment(segment, part);
    if (!found) return null;
    rank.push(...found.rank);
    values.push(...found.values);
  }
  return segments.length === parts.length ? { rank, values } : null;
}

function matchSegment(segment: Segment, part: string): Fit | null {
  if (segment.kind === 'static') return decodeSegment(part) === segment.text ? { rank: ['0'], values: [] } : null;
  if (segment.kind === 'param') return part === '' ? null : { rank: ['8'], values: [part] };
  if (segment.kind !== 'pattern') return null;
  const { literals } = segment.pattern;
  const values = valuesOf(literals, part, (character) => [character]) ?? valuesOf(literals, part, spellingsOf);
  // More literal text first, 1 to 7 for up to 6 characters; then by the text.
  return values ? { rank: [`${7 - literals.join('').length}${literals.join('\0')}`], values } : null;
}

/** Of a character in a path: itself, and encoded. */
const spellingsOf = (character: string) => [character, encoded(character)];

function encoded(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** By a regular expression in which an escape is one character; a literal is spelled in one of these ways. */
function valuesOf(literals: readonly string[], part: string, spellings: (character: string) => string[]) {
  const quoted = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const inAnyCase = (text: string) =>
    text.replaceAll(/%../g, (code) => `%[${code[1]}${code[1]?.toUpperCase()}][${code[2]}${code[2]?.toUpperCase()}]`);
  const one = (character: string) =>
    `(?:${spellings(character)
      .map((each) => inAnyCase(quoted(each)))
      .join('|')})`;
  const character = '(?:%[0-9a-fA-F]{2}|(?!%[0-9a-fA-F]{2})[^])';
  const source = literals.map((each) => [...each].map(one).join('')).join(`(${character}+?)`);
  return new RegExp(`^${source}$`, 'u').exec(part)?.slice(1);
}

function before(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((each, i) => each !== b[i]);
  return at < 0 ? 0 : (a[at] ?? '') < (b[at] ?? '') ? -1 : 1;
}

it('finds what a router would that tries every template', () => {
  const route = fc.tuple(methods, template);
  fc.assert(
    fc.property(fc.array(route, { maxLength: 10 }), methods, path, (routes, method, wanted) => {
      const router = new Router<string>();
      const kept: [method: string, template: string][] = [];
      for (const [verb, each] of routes) {
        try {
          router.add(verb, each, `${verb} ${each}`);
          kept.push([verb, each]);
        } catch (error) {
          if (!(error instanceof TemplateError) && !String(error).includes('declared twice')) throw error;
        }
      }
      const found = inTime(() => router.find(method, wanted));
      const fitting = kept.flatMap(([verb, each]) => {
        const result = match(each, wanted);
        return result ? [{ verb, each, ...result }] : [];
      });
      const serving = fitting.filter(({ verb }) => verb === method || (method === 'HEAD' && verb === 'GET'));
      const [best] = serving.sort(
        (a, b) => before(a.rank, b.rank) || Number(b.verb === method) - Number(a.verb === method),
      );
      if (!best) {
        const allowed = new Set(fitting.flatMap(({ verb }) => (verb === 'GET' ? ['GET', 'HEAD'] : [verb])));
        expect(found).toEqual({ value: null, allow: [...allowed].sort() });
        return;
      }
      expect(found).toEqual({ value: `${best.verb} ${best.each}`, params: best.values });
    }),
    propertyRuns(8000),
  );
});

it('takes or refuses any template, and decodes any path', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.array(fc.constantFrom('{', '}', '+', '/', 'a', '%', '{a}')).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, (given) => {
      try {
        parseTemplate(given);
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
      }
      expect(decodePath(given).split('/').length).toBeGreaterThanOrEqual(given.split('/').length);
    }),
    propertyRuns(2000),
  );
});

it('is not kept busy by paths that fit many templates for long', () => {
  const router = new Router<string>();
  for (let i = 0; i < 12; i++) {
    const parts = Array.from({ length: 12 }, (_, at) => ((i >> (at % 4)) & 1 ? 'a' : `{p${at}}`));
    try {
      router.add('GET', `/${parts.join('/')}/end${i}`, String(i));
    } catch {}
  }
  inTime(() => router.find('GET', `/${'a/'.repeat(12)}none`), 50);
  inTime(() => router.find('GET', `/${'a-'.repeat(4000)}`), 50);
});

it('finds the same operation if a literal of the path is percent-encoded', () => {
  const templates = [
    '/y/@{p}',
    '/y/{p}',
    '/y/{p}:go',
    '/y/{p}-ä',
    '/{p}.json',
    '/a b',
    '/{p+}',
    '/y/{p}-{q}',
    '/y/@me',
    '/y/v{p}.{q}',
  ];
  const router = new Router<string>();
  for (const each of templates) router.add('GET', each, each);
  const value = fc.stringMatching(/^[a-z0-9é~_]{1,4}$/);
  fc.assert(
    fc.property(fc.constantFrom(...templates), value, fc.infiniteStream(fc.boolean()), (each, text, coins) => {
      const written = each
        .split(/(\{[^}]*\})/)
        .map((part, i) => (i % 2 === 1 ? text : part))
        .join('');
      const spelled = [...written].map((one) => (one !== '/' && coins.next().value ? encoded(one) : one)).join('');
      expect([spelled, router.find('GET', spelled).value]).toEqual([spelled, router.find('GET', written).value]);
    }),
    propertyRuns(2000),
  );
});
