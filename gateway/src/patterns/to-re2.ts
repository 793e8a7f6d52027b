/**
 * Patterns of ECMAScript in RE2's syntax. RE2 takes repetitions of up to 1,000, multiplied through if nested; larger
 * ones are written out.
 */
import type { AST } from '@eslint-community/regexpp';
import { type Ranges, rangesOf } from './char-ranges.ts';
import type { ReadPattern } from './read-pattern.ts';

const MOST_REPEATS = 1000;
/** States of the written-out pattern: time and memory of a match grow with them. */
const MOST_STATES = 10_000;
/** Characters of the written-out pattern. */
const MOST_TEXT = 100_000;

/** No expression of RE2, or too large a one. */
class Inexpressible extends Error {}

interface Written {
  readonly text: string;
  readonly states: number;
}

/** Returns null if RE2 has no equal of it within the limits. */
export function toRe2({ ast, unicode }: ReadPattern): string | null {
  // Halves of characters, which RE2 does not know.
  if (!unicode && /[\ud800-\udfff]|\\u[dD][89a-fA-F]/.test(ast.raw)) return null;
  try {
    return choice(ast.alternatives, MOST_REPEATS).text;
  } catch (error) {
    if (error instanceof Inexpressible) return null;
    throw error;
  }
}

function checked(text: string, states: number): Written {
  if (states > MOST_STATES || text.length > MOST_TEXT) throw new Inexpressible();
  return { text, states };
}

/** `allowed`: how often its content may be repeated in all. */
function choice(alternatives: readonly AST.Alternative[], allowed: number): Written {
  const each = alternatives.map(({ elements }) => sequence(elements.map((element) => write(element, allowed))));
  return checked(each.map(({ text }) => text).join('|'), sum(each));
}

function sequence(parts: readonly Written[]): Written {
  return checked(parts.map(({ text }) => text).join(''), sum(parts));
}

const sum = (parts: readonly Written[]) => parts.reduce((total, { states }) => total + states, 1);

function write(node: AST.Element, allowed: number): Written {
  const ranges = rangesOf(node);
  if (ranges !== null) return { text: classText(ranges), states: 1 };
  switch (node.type) {
    case 'Assertion':
      if (node.kind === 'start') return { text: '^', states: 1 };
      if (node.kind === 'end') return { text: '$', states: 1 };
      if (node.kind === 'word') return { text: node.negate ? '\\B' : '\\b', states: 1 };
      throw new Inexpressible();
    case 'Group':
      if (node.modifiers !== null) throw new Inexpressible();
      return group(node.alternatives, allowed);
    case 'CapturingGroup':
      return group(node.alternatives, allowed);
    case 'Quantifier':
      return repetition(node, allowed);
    case 'CharacterSet':
      // `\p{…}`: RE2 knows most.
      return { text: node.raw, states: 1 };
    default:
      throw new Inexpressible();
  }
}

function group(alternatives: readonly AST.Alternative[], allowed: number): Written {
  const { text, states } = choice(alternatives, allowed);
  return { text: `(?:${text})`, states };
}

function repetition({ element, min, max }: AST.Quantifier, allowed: number): Written {
  const endless = max === Number.POSITIVE_INFINITY;
  const most = endless ? min : max;
  if (most <= 1) {
    const { text, states } = write(element, allowed);
    const again = endless ? (min === 0 ? '*' : '+') : max === 0 ? '{0}' : min === 0 ? '?' : '';
    return { text: text + again, states };
  }
  if (most <= allowed) {
    const { text, states } = write(element, Math.floor(allowed / most));
    return checked(`${text}{${min},${endless ? '' : max}}`, states * most);
  }
  const once = write(element, 1);
  const parts = [...pieces(min, allowed, once, (count) => `{${count}}`)];
  if (endless) parts.push({ text: `${once.text}*`, states: once.states });
  else parts.push(...pieces(max - min, allowed, once, (count) => `{0,${count}}`));
  return sequence(parts);
}

/** Yields so many repetitions, in pieces of an allowed size. */
function* pieces(count: number, allowed: number, { text, states }: Written, of: (count: number) => string) {
  if (count * states > MOST_STATES) throw new Inexpressible();
  for (let left = count; left > 0; left -= allowed) {
    const here = Math.min(left, allowed);
    yield { text: text + of(here), states: states * here };
  }
}

/** A class of RE2 that admits them. */
export function classText(ranges: Ranges): string {
  if (ranges.length === 0) return '[^\\x{0}-\\x{10ffff}]';
  const hex = (point: number) => `\\x{${point.toString(16)}}`;
  return `[${ranges.map(([from, to]) => (from === to ? hex(from) : `${hex(from)}-${hex(to)}`)).join('')}]`;
}
