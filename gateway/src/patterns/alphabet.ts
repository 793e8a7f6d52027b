/** The characters of the texts that a pattern describes from their begin to their end. */
import type { AST } from '@eslint-community/regexpp';
import { type Ranges, rangesOf } from './char-ranges.ts';
import { childrenOf, readPattern } from './read-pattern.ts';

/**
 * Returns ranges of characters, outside of which no matching text has one; null if a pattern is not anchored at both
 * ends, or may match characters of Unicode's tables. Ranges may overlap.
 */
export function alphabetOf(source: string): Ranges | null {
  const pattern = readPattern(source);
  if (pattern === null || !pattern.ast.alternatives.every(isAnchored)) return null;
  const all: Ranges[] = [];
  return collect(pattern.ast, all) ? all.flat() : null;
}

function isAnchored({ elements }: AST.Alternative): boolean {
  const [first, last] = [elements[0], elements.at(-1)];
  return isAssertion(first, 'start') && isAssertion(last, 'end');
}

function isAssertion(node: AST.Element | undefined, kind: AST.Assertion['kind']): boolean {
  return node?.type === 'Assertion' && node.kind === kind;
}

/** Returns false if the characters of a part are not known. */
function collect(node: AST.Node, all: Ranges[]): boolean {
  switch (node.type) {
    // They narrow what matches, and repeat what has been matched.
    case 'Assertion':
    case 'Backreference':
      return true;
    case 'Character':
    case 'CharacterClass':
    case 'CharacterSet': {
      const ranges = rangesOf(node);
      if (ranges !== null) all.push(ranges);
      return ranges !== null;
    }
    case 'Group':
      // With a flag, a letter matches others.
      return node.modifiers === null && childrenOf(node).every((each) => collect(each, all));
    case 'Pattern':
    case 'Alternative':
    case 'CapturingGroup':
    case 'Quantifier':
      return childrenOf(node).every((each) => collect(each, all));
    default:
      return false;
  }
}
