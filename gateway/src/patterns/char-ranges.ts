/**
 * Sets of characters as ranges of code points: those that a class, an escape, or a choice of single characters admits.
 */
import type { AST } from '@eslint-community/regexpp';

/** From and to, both included; sorted, with a gap between neighbours. */
export type Ranges = readonly (readonly [from: number, to: number])[];

const LAST = 0x10ffff;
const DIGIT: Ranges = [[0x30, 0x39]];
const WORD: Ranges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** WhiteSpace and LineTerminator of ECMA-262. */
const SPACE: Ranges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_END: Ranges = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

/** Returns null unless the node is one character, and for classes of Unicode's tables (`\p{…}`). */
export function rangesOf(node: AST.Node): Ranges | null {
  switch (node.type) {
    case 'Character':
      return [[node.value, node.value]];
    case 'CharacterClassRange':
      return [[node.min.value, node.max.value]];
    case 'CharacterSet':
      return ofSet(node);
    case 'CharacterClass': {
      const union = unionOf(node.elements);
      return union && node.negate ? complement(union) : union;
    }
    case 'Group':
      return node.modifiers === null ? ofChoice(node.alternatives) : null;
    case 'CapturingGroup':
      return ofChoice(node.alternatives);
    default:
      return null;
  }
}

export const isEverything = (ranges: Ranges) => ranges.length === 1 && ranges[0]?.[0] === 0 && ranges[0][1] === LAST;

function ofSet(node: AST.CharacterSet): Ranges | null {
  switch (node.kind) {
    case 'any':
      return complement(LINE_END);
    case 'digit':
      return node.negate ? complement(DIGIT) : DIGIT;
    case 'word':
      return node.negate ? complement(WORD) : WORD;
    case 'space':
      return node.negate ? complement(SPACE) : SPACE;
    default:
      return null;
  }
}

/** `(?:a|[b-d])`. */
function ofChoice(alternatives: readonly AST.Alternative[]): Ranges | null {
  const single = alternatives.map(({ elements }) => (elements.length === 1 ? elements[0] : undefined));
  return single.every((each) => each !== undefined) ? unionOf(single) : null;
}

function unionOf(nodes: readonly AST.Node[]): Ranges | null {
  const all: (readonly [number, number])[] = [];
  for (const node of nodes) {
    const ranges = rangesOf(node);
    if (ranges === null) return null;
    all.push(...ranges);
  }
  all.sort((a, b) => a[0] - b[0]);
  const union: [number, number][] = [];
  for (const [from, to] of all) {
    const last = union.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else union.push([from, to]);
  }
  return union;
}

function complement(ranges: Ranges): Ranges {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [from, to] of ranges) {
    if (from > next) gaps.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= LAST) gaps.push([next, LAST]);
  return gaps;
}
