/**
 * Patterns with look-around or back-references, which no automaton matches, as programs for counted-match.ts: the
 * backtracking machine of ECMA-262, section 22.2.2, in code that counts its steps.
 */
import type { AST } from '@eslint-community/regexpp';
import { childrenOf, type ReadPattern } from './read-pattern.ts';

export const OP = {
  /** Tests a character with `testers[a]`, and goes over it. */
  CHAR: 0,
  /** The same towards the beginning, in look-behind. */
  CHAR_BACK: 1,
  /** Goes on at `a`, or at `b` if that fails. */
  SPLIT: 2,
  JUMP: 3,
  /** Notes the position in register `a`. */
  NOTE: 4,
  /** Puts -1 in registers `a` to `b`, `b` not included. */
  FORGET: 5,
  /** Puts 0 in register `a`. */
  ZERO: 6,
  /** Adds 1 to register `a`. */
  COUNT: 7,
  /** Goes to `c` if register `a` is at least `b`. */
  IF_AT_LEAST: 8,
  /** Fails if the position equals register `a`. */
  MOVED: 9,
  START: 10,
  END: 11,
  LINE_START: 12,
  LINE_END: 13,
  /** A word boundary; `a` is 1 for its absence. */
  WORD: 14,
  /** Matches the text between the positions in registers `a` and `a + 1`; `b` is 1 to ignore case. */
  BACK: 15,
  BACK_BACK: 16,
  /** Matches the following instructions up to DONE, and goes on at `a`; `b` is 1 if they must not match. */
  LOOK: 17,
  DONE: 18,
} as const;

/** Numbers of an instruction: the operation and three operands. */
export const WIDTH = 4;

/** Reports whether one character, given as a code point or UTF-16 unit, matches. */
type Tester = (point: number) => boolean;

export interface Program {
  readonly code: Int32Array;
  readonly testers: readonly Tester[];
  readonly registers: number;
  /** Characters are code points, not UTF-16 units. */
  readonly unicode: boolean;
}

export function countedProgram(pattern: ReadPattern): Program {
  return new Compiler(pattern).program;
}

/** Flags set by `(?ims-ims:…)`. */
interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
}

class Compiler {
  readonly #code: number[] = [];
  readonly #testers: Tester[] = [];
  readonly #known = new Map<string, number>();
  /** The first register of each group that a back-reference names. */
  readonly #groups = new Map<AST.CapturingGroup, number>();
  readonly #unicode: boolean;
  #registers: number;

  constructor({ ast, unicode }: ReadPattern) {
    this.#unicode = unicode;
    for (const group of groupsIn(ast)) if (group.references.length > 0) this.#groups.set(group, 2 * this.#groups.size);
    this.#registers = 2 * this.#groups.size;
    this.#choice(ast.alternatives, { i: false, m: false, s: false }, false);
    this.#emit(OP.DONE);
  }

  get program(): Program {
    return {
      code: Int32Array.from(this.#code),
      testers: this.#testers,
      registers: this.#registers,
      unicode: this.#unicode,
    };
  }

  /** Returns the instruction's position. */
  #emit(op: number, a = 0, b = 0, c = 0): number {
    return this.#code.push(op, a, b, c) - WIDTH;
  }

  get #here(): number {
    return this.#code.length;
  }

  #aim(at: number, operand: 1 | 2 | 3, to = this.#here): void {
    this.#code[at + operand] = to;
  }

  #choice(alternatives: readonly AST.Alternative[], flags: Flags, back: boolean): void {
    const ends: number[] = [];
    alternatives.forEach(({ elements }, i) => {
      const last = i === alternatives.length - 1;
      const split = last ? -1 : this.#emit(OP.SPLIT, this.#here + WIDTH);
      for (const element of back ? elements.toReversed() : elements) this.#element(element, flags, back);
      if (last) return;
      ends.push(this.#emit(OP.JUMP));
      this.#aim(split, 2);
    });
    for (const end of ends) this.#aim(end, 1);
  }

  #element(node: AST.Element, flags: Flags, back: boolean): void {
    switch (node.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass':
        this.#emit(back ? OP.CHAR_BACK : OP.CHAR, this.#tester(node.raw, flags));
        return;
      case 'Group': {
        const { add, remove } = node.modifiers ?? {};
        const of = (name: 'ignoreCase' | 'multiline' | 'dotAll', now: boolean) =>
          (now || add?.[name] === true) && remove?.[name] !== true;
        const inner = { i: of('ignoreCase', flags.i), m: of('multiline', flags.m), s: of('dotAll', flags.s) };
        return this.#choice(node.alternatives, inner, back);
      }
      case 'CapturingGroup': {
        const register = this.#groups.get(node);
        if (register === undefined) return this.#choice(node.alternatives, flags, back);
        this.#emit(OP.NOTE, back ? register + 1 : register);
        this.#choice(node.alternatives, flags, back);
        this.#emit(OP.NOTE, back ? register : register + 1);
        return;
      }
      case 'Backreference':
        return this.#backReference(node, flags, back);
      case 'Assertion':
        return this.#assertion(node, flags);
      case 'Quantifier':
        return this.#repetition(node, flags, back);
    }
  }

  #backReference(node: AST.Backreference, flags: Flags, back: boolean): void {
    // Of groups of one name, in different alternatives, only one can have matched: the others match the empty text.
    for (const group of [node.resolved].flat()) {
      this.#emit(back ? OP.BACK_BACK : OP.BACK, this.#groups.get(group), flags.i ? 1 : 0);
    }
  }

  #assertion(node: AST.Assertion, flags: Flags): void {
    switch (node.kind) {
      case 'start':
        this.#emit(flags.m ? OP.LINE_START : OP.START);
        return;
      case 'end':
        this.#emit(flags.m ? OP.LINE_END : OP.END);
        return;
      case 'word':
        this.#emit(OP.WORD, node.negate ? 1 : 0);
        return;
      default: {
        const look = this.#emit(OP.LOOK, 0, node.negate ? 1 : 0);
        this.#choice(node.alternatives, flags, node.kind === 'lookbehind');
        this.#emit(OP.DONE);
        this.#aim(look, 1);
      }
    }
  }

  /** `min` rounds, then more, greedily or as needed, which must not be empty. The element is emitted once. */
  #repetition({ element, min, max, greedy }: AST.Quantifier, flags: Flags, back: boolean): void {
    if (max === 0) return;
    if (min === 1 && max === 1) return this.#element(element, flags, back);
    const counted = min > 0 || (max > 1 && max !== Number.POSITIVE_INFINITY);
    const [count, from] = [this.#registers++, this.#registers++];
    if (counted) this.#emit(OP.ZERO, count);
    const top = this.#here;
    let skip = -1;
    if (min > 0) {
      const enough = this.#emit(OP.IF_AT_LEAST, count, min);
      this.#emit(OP.COUNT, count);
      this.#emit(OP.FORGET, from, from + 1);
      skip = this.#emit(OP.JUMP);
      this.#aim(enough, 3);
    }
    const full = counted && max !== Number.POSITIVE_INFINITY ? this.#emit(OP.IF_AT_LEAST, count, max) : -1;
    const split = this.#emit(OP.SPLIT);
    this.#aim(split, greedy ? 1 : 2);
    if (counted) this.#emit(OP.COUNT, count);
    this.#emit(OP.NOTE, from);
    if (skip >= 0) this.#aim(skip, 1);
    const inner = groupsIn(element).flatMap((group) => this.#groups.get(group) ?? []);
    if (inner.length > 0) this.#emit(OP.FORGET, Math.min(...inner), Math.max(...inner) + 2);
    this.#element(element, flags, back);
    this.#emit(OP.MOVED, from);
    if (max > 1) this.#emit(OP.JUMP, top);
    this.#aim(split, greedy ? 2 : 1);
    if (full >= 0) this.#aim(full, 3);
  }

  #tester(raw: string, { i, s }: Flags): number {
    const flags = `${i ? 'i' : ''}${s ? 's' : ''}${this.#unicode ? 'u' : ''}`;
    const key = `${flags}/${raw}`;
    let index = this.#known.get(key);
    if (index === undefined) {
      index = this.#testers.push(testerOf(raw, flags)) - 1;
      this.#known.set(key, index);
    }
    return index;
  }
}

const ASCII = 128;

/** The host's engine judges single characters only, which takes no longer for any of them. */
function testerOf(raw: string, flags: string): Tester {
  const one = new RegExp(`^(?:${raw})$`, flags);
  const ascii = Uint8Array.from({ length: ASCII }, (_, point) => (one.test(String.fromCharCode(point)) ? 1 : 0));
  return (point) => (point < ASCII ? ascii[point] === 1 : one.test(String.fromCodePoint(point)));
}

/** In the order of their numbers. */
function groupsIn(node: AST.Node): readonly AST.CapturingGroup[] {
  const inner = childrenOf(node).flatMap(groupsIn);
  return node.type === 'CapturingGroup' ? [node, ...inner] : inner;
}
