/**
 * Counts the values that an instruction takes off the operand stack and puts on it; blocks, branches and calls aside.
 */
import type { Instruction } from './instructions.ts';

/** Pairs of values taken and values put, by their sum `10 × taken + put`. */
type Effect = number;

const NOTHING: Effect = 0;
const PUSH: Effect = 1;
const DROP: Effect = 10;
const UNARY: Effect = 11;
const BINARY: Effect = 21;
const TERNARY: Effect = 31;
const STORE: Effect = 20;
const BULK: Effect = 30;

/** Ranges of opcodes, the last one included. */
function table(ranges: readonly (readonly [effect: Effect, from: number, to?: number])[], otherwise: Effect) {
  const effects = new Uint8Array(256).fill(otherwise);
  for (const [effect, from, to = from] of ranges) effects.fill(effect, from, to + 1);
  return effects;
}

const plain = table(
  [
    [DROP, 0x1a],
    [TERNARY, 0x1b, 0x1c], // select
    [PUSH, 0x20], // local.get
    [DROP, 0x21],
    [UNARY, 0x22],
    [PUSH, 0x23],
    [DROP, 0x24],
    [UNARY, 0x25], // table.get
    [STORE, 0x26], // table.set
    [UNARY, 0x28, 0x35], // loads
    [STORE, 0x36, 0x3e],
    [PUSH, 0x3f], // memory.size
    [UNARY, 0x40],
    [PUSH, 0x41, 0x44],
    [UNARY, 0x45], // i32.eqz
    [BINARY, 0x46, 0x4f],
    [UNARY, 0x50], // i64.eqz
    [BINARY, 0x51, 0x66],
    [UNARY, 0x67, 0x69],
    [BINARY, 0x6a, 0x78],
    [UNARY, 0x79, 0x7b],
    [BINARY, 0x7c, 0x8a],
    [UNARY, 0x8b, 0x91],
    [BINARY, 0x92, 0x98],
    [UNARY, 0x99, 0x9f],
    [BINARY, 0xa0, 0xa6],
    [UNARY, 0xa7, 0xc4],
    [PUSH, 0xd0], // ref.null
    [UNARY, 0xd1],
    [PUSH, 0xd2],
  ],
  NOTHING,
);

/** Saturating conversions, bulk memory, `table.size`. */
const prefixed = table(
  [
    [BULK, 8],
    [BULK, 10, 12],
    [PUSH, 16],
  ],
  UNARY,
);

const vector = table(
  [
    [UNARY, 0, 10], // loads
    [STORE, 11],
    [PUSH, 12], // v128.const
    [UNARY, 15, 22], // splats, extract_lane
    [UNARY, 24, 25],
    [UNARY, 27],
    [UNARY, 29],
    [UNARY, 31],
    [UNARY, 33],
    [UNARY, 77], // v128.not
    [TERNARY, 82], // v128.bitselect
    [UNARY, 83],
    [STORE, 88, 91], // store_lane
    [UNARY, 92, 100], // load_zero, conversions, i8x16.abs … i8x16.bitmask
    [UNARY, 103, 106],
    [UNARY, 116, 117],
    [UNARY, 122],
    [UNARY, 124, 129],
    [UNARY, 131, 132],
    [UNARY, 135, 138],
    [UNARY, 148],
    [UNARY, 160, 164],
    [UNARY, 167, 170],
    [UNARY, 192, 196],
    [UNARY, 199, 202],
    [UNARY, 224, 227],
    [UNARY, 236, 239],
    [UNARY, 248, 255],
  ],
  BINARY,
);

function effectOf({ opcode, immediate }: Instruction): Effect {
  if (opcode === 0xfc) return prefixed[immediate] ?? UNARY;
  if (opcode === 0xfd) return vector[immediate] ?? BINARY;
  return plain[opcode] ?? NOTHING;
}

/**
 * Returns the height after an instruction that is `plain`, or works on memory; never below `base`, at which its block
 * begins.
 */
export function heightAfter(instruction: Instruction, height: number, base: number): number {
  const effect = effectOf(instruction);
  return Math.max(base, height - Math.floor(effect / 10)) + (effect % 10);
}
