/** Runs the programs of counted-program.ts, step by step, within a budget. */
import { OP, type Program, WIDTH } from './counted-program.ts';
import { type StepBudget, StepsExceeded } from './step-budget.ts';

/** Numbers that are kept to go back by: 32 MiB. */
const MOST_KEPT = 8 << 20;
/** Steps between two looks at the budget. */
const SLICE = 1024;

/** Reports whether it matches anywhere in the text. Throws StepsExceeded. */
export function countedTest(program: Program, text: string, budget: StepBudget): boolean {
  const match = new CountedMatch(program, text, budget);
  for (let at = 0; at <= text.length; ) {
    if (match.at(at)) return true;
    at += program.unicode && isPair(text, at) ? 2 : 1;
  }
  return false;
}

class CountedMatch {
  readonly #program: Program;
  readonly #text: string;
  readonly #budget: StepBudget;
  readonly #registers: Int32Array;
  /** Triples: the instruction to go on at, the position, and -1; or -1, a register, and its previous value. */
  #kept = new Int32Array(3 * 64);
  #height = 0;
  #steps = 0;

  constructor(program: Program, text: string, budget: StepBudget) {
    this.#program = program;
    this.#text = text;
    this.#budget = budget;
    this.#registers = new Int32Array(program.registers);
  }

  /** Reports whether a match begins there. */
  at(position: number): boolean {
    this.#registers.fill(-1);
    this.#height = 0;
    const end = this.#run(0, position);
    this.#budget.take(this.#steps);
    this.#steps = 0;
    return end >= 0;
  }

  /** Runs up to DONE; returns the position there, or -1. Its saved states stay on the stack, for the caller. */
  #run(start: number, position: number): number {
    const { code, testers, unicode } = this.#program;
    const text = this.#text;
    const registers = this.#registers;
    const bottom = this.#height;
    let pc = start;
    let at = position;
    for (;;) {
      if (++this.#steps >= SLICE) {
        this.#budget.take(this.#steps);
        this.#steps = 0;
      }
      const a = code[pc + 1] as number;
      let holds = true;
      let next = pc + WIDTH;
      switch (code[pc]) {
        case OP.CHAR: {
          if (at >= text.length) holds = false;
          else {
            const point = unicode ? (text.codePointAt(at) as number) : text.charCodeAt(at);
            holds = (testers[a] as (point: number) => boolean)(point);
            at += point > 0xffff ? 2 : 1;
          }
          break;
        }
        case OP.CHAR_BACK: {
          if (at <= 0) holds = false;
          else {
            const width = unicode && isPair(text, at - 2) ? 2 : 1;
            at -= width;
            const point = width === 2 ? (text.codePointAt(at) as number) : text.charCodeAt(at);
            holds = (testers[a] as (point: number) => boolean)(point);
          }
          break;
        }
        case OP.SPLIT:
          this.#keep(code[pc + 2] as number, at, -1);
          next = a;
          break;
        case OP.JUMP:
          next = a;
          break;
        case OP.NOTE:
          this.#set(a, at);
          break;
        case OP.FORGET:
          for (let i = a; i < (code[pc + 2] as number); i++) this.#set(i, -1);
          this.#steps += (code[pc + 2] as number) - a;
          break;
        case OP.ZERO:
          this.#set(a, 0);
          break;
        case OP.COUNT:
          this.#set(a, (registers[a] as number) + 1);
          break;
        case OP.IF_AT_LEAST:
          if ((registers[a] as number) >= (code[pc + 2] as number)) next = code[pc + 3] as number;
          break;
        case OP.MOVED:
          holds = registers[a] !== at;
          break;
        case OP.START:
          holds = at === 0;
          break;
        case OP.END:
          holds = at === text.length;
          break;
        case OP.LINE_START:
          holds = at === 0 || isLineEnd(text.charCodeAt(at - 1));
          break;
        case OP.LINE_END:
          holds = at === text.length || isLineEnd(text.charCodeAt(at));
          break;
        case OP.WORD:
          holds = (isWord(text, at - 1) !== isWord(text, at)) === (a === 0);
          break;
        case OP.BACK:
        case OP.BACK_BACK: {
          const to = this.#repeated(a, at, code[pc] === OP.BACK, code[pc + 2] === 1);
          holds = to >= 0;
          at = to;
          break;
        }
        case OP.LOOK: {
          const height = this.#height;
          const found = this.#run(next, at) >= 0;
          holds = found !== (code[pc + 2] === 1);
          // Captures of a positive look-around are kept; ways back into it are dropped.
          if (found && holds) this.#dropWays(height);
          else this.#restore(height);
          next = a;
          break;
        }
        default:
          return at;
      }
      if (holds) pc = next;
      else {
        const back = this.#back(bottom);
        if (back < 0) return -1;
        pc = back;
        at = this.#position;
      }
    }
  }

  /** Position of the last way back. */
  #position = 0;

  /** Undoes down to the last way back; returns its instruction, or -1 if `bottom` is reached. */
  #back(bottom: number): number {
    const kept = this.#kept;
    while (this.#height > bottom) {
      this.#height -= 3;
      const first = kept[this.#height] as number;
      if (first >= 0) {
        this.#position = kept[this.#height + 1] as number;
        return first;
      }
      this.#registers[kept[this.#height + 1] as number] = kept[this.#height + 2] as number;
    }
    return -1;
  }

  #restore(height: number): void {
    while (this.#height > height) {
      this.#height -= 3;
      if ((this.#kept[this.#height] as number) >= 0) continue;
      this.#registers[this.#kept[this.#height + 1] as number] = this.#kept[this.#height + 2] as number;
    }
  }

  /** Keeps only the previous values of registers. */
  #dropWays(height: number): void {
    const kept = this.#kept;
    let to = height;
    for (let from = height; from < this.#height; from += 3) {
      if ((kept[from] as number) >= 0) continue;
      kept.copyWithin(to, from, from + 3);
      to += 3;
    }
    this.#steps += (this.#height - height) / 3;
    this.#height = to;
  }

  #set(register: number, value: number): void {
    this.#keep(-1, register, this.#registers[register] as number);
    this.#registers[register] = value;
  }

  #keep(a: number, b: number, c: number): void {
    if (this.#height + 3 > this.#kept.length) {
      if (this.#kept.length >= MOST_KEPT) throw new StepsExceeded();
      const larger = new Int32Array(this.#kept.length * 2);
      larger.set(this.#kept);
      this.#kept = larger;
    }
    this.#kept[this.#height] = a;
    this.#kept[this.#height + 1] = b;
    this.#kept[this.#height + 2] = c;
    this.#height += 3;
  }

  /** Returns the position behind a repetition of the group's capture; -1 if the text differs. */
  #repeated(register: number, at: number, forward: boolean, anyCase: boolean): number {
    const from = this.#registers[register] as number;
    const to = this.#registers[register + 1] as number;
    // A group that has not matched, or has not ended, matches the empty text.
    if (from < 0 || to < 0) return at;
    const length = to - from;
    const start = forward ? at : at - length;
    if (start < 0 || start + length > this.#text.length) return -1;
    this.#steps += length;
    const text = this.#text;
    for (let i = 0; i < length; i++) {
      if (text.charCodeAt(from + i) === text.charCodeAt(start + i)) continue;
      if (!anyCase || text.charAt(from + i).toLowerCase() !== text.charAt(start + i).toLowerCase()) return -1;
    }
    return forward ? at + length : start;
  }
}

function isPair(text: string, at: number): boolean {
  return at >= 0 && (text.codePointAt(at) as number) > 0xffff;
}

const isLineEnd = (unit: number) => unit === 0x0a || unit === 0x0d || unit === 0x2028 || unit === 0x2029;

function isWord(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return false;
  const unit = text.charCodeAt(at);
  return (
    (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f || (unit >= 0x61 && unit <= 0x7a)
  );
}
