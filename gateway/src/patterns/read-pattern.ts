/**
 * Regular expressions of ECMAScript as trees: with the flag `u`, else without it (docs/decisions.md#patterns-bounded).
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp';

export interface ReadPattern {
  readonly ast: AST.Pattern;
  /** Whether it was read with the flag `u`: it then matches code points, else UTF-16 units. */
  readonly unicode: boolean;
}

/** Most nested groups; more than any hand-written pattern has, and less than would exhaust a stack. */
const MOST_DEPTH = 200;

const parser = new RegExpParser({ ecmaVersion: 2025 });

/** Returns null if the pattern is malformed in both readings. */
export function readPattern(source: string): ReadPattern | null {
  for (const unicode of [true, false]) {
    try {
      const ast = parser.parsePattern(source, 0, source.length, { unicode, unicodeSets: false });
      return isTooDeep(ast) ? null : { ast, unicode };
    } catch {
      // Read the other way, or not at all.
    }
  }
  return null;
}

/** The parts of a node that hold others. */
export function childrenOf(node: AST.Node): readonly AST.Node[] {
  if (node.type === 'Quantifier') return [node.element];
  if (node.type === 'Alternative') return node.elements;
  return 'alternatives' in node ? (node.alternatives as readonly AST.Node[]) : [];
}

function isTooDeep(ast: AST.Pattern): boolean {
  let level: readonly AST.Node[] = [ast];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > 3 * MOST_DEPTH) return true;
    level = level.flatMap(childrenOf);
  }
  return false;
}
