/** Modules made at random, valid by construction: structured code that branches, loops, calls and recurs at will. */
import { moduleOf } from './module-of.ts';

/** Functions besides `init` and `on_request`; any may call any. */
const FUNCTIONS = 5;

interface Draw {
  /** Number of open blocks, including the function's own. */
  readonly depth: number;
  take(below: number): number;
  /** Statements that may still be made. */
  budget: { left: number };
}

const i32 = (value: number): number[] => {
  const out: number[] = [];
  let rest = value | 0;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) return [0x41, ...out, low];
    out.push(low | 0x80);
  }
};

/** The next of a row of numbers that local 0 holds, as they seem at random. */
const NEXT = [0x20, 0, ...i32(1_103_515_245), 0x6c, ...i32(12_345), 0x6a, 0x22, 0, ...i32(16), 0x76];
/** True one time in 2^bits. */
const seldom = (bits: number): number[] => [...NEXT, ...i32((1 << bits) - 1), 0x71, 0x45];
const LENGTHS = [0, 1, 100, 4_096, 65_536, 65_537, 500_000, -1];

function statements(draw: Draw): number[] {
  const out: number[] = [];
  for (let count = 1 + draw.take(4); count > 0 && draw.budget.left > 0; count--) out.push(...statement(draw));
  return out;
}

function statement(draw: Draw): number[] {
  const { depth, take } = draw;
  draw.budget.left--;
  const inside = { ...draw, depth: depth + 1 };
  const length = i32(LENGTHS[take(LENGTHS.length)] ?? 0);
  switch (take(16)) {
    case 0:
      return [0x02, 0x40, ...statements(inside), 0x0b];
    case 1:
      return [0x03, 0x40, ...statements(inside), 0x0b];
    case 2:
      return [0x03, 0x40, ...statements(inside), ...seldom(1 + take(10)), 0x45, 0x0d, 0, 0x0b];
    case 3:
      return [...seldom(1 + take(3)), 0x04, 0x40, ...statements(inside), 0x0b];
    case 4:
      return [...seldom(1 + take(3)), 0x04, 0x40, ...statements(inside), 0x05, ...statements(inside), 0x0b];
    case 5:
      return [...seldom(1 + take(4)), 0x0d, take(depth)];
    case 6:
      return [...NEXT, 0x0e, 2, take(depth), take(depth), take(depth)];
    case 7:
    case 8:
      return [0x10, 2 + take(FUNCTIONS)];
    case 9:
      return [...i32(take(FUNCTIONS)), 0x11, 2, 0];
    case 10:
      return [...i32(0), ...i32(1), ...length, 0xfc, 11, 0];
    case 11:
      return [...i32(take(3) * 1_000), ...i32(take(3) * 1_000), ...length, 0xfc, 10, 0, 0];
    case 12:
      return [...i32(take(3)), 0x40, 0, 0x1a];
    case 13:
      return [...seldom(3), 0x04, 0x40, take(4) === 0 ? 0x00 : 0x0f, 0x0b];
    case 14:
      return [...seldom(4), 0x04, 0x40, 0x12, 2 + take(FUNCTIONS), 0x0b];
    default:
      return Array.from({ length: 1 + take(2_000) }, () => [...i32(1), 0x1a]).flat();
  }
}

/** Returns the module of a seed; its `on_request` runs the generated code. */
export function randomModule(seed: number): Uint8Array {
  let state = seed >>> 0;
  const take = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const code = () => [...i32(take(0xffff)), 0x21, 0, ...statements({ depth: 1, take, budget: { left: 40 } }), 0x0b];
  return moduleOf({
    locals: [1, 1, 0x7f],
    functions: [
      ['init', 0, [0x41, 0, 0x0b]],
      ['on_request', 0, [0x10, 2, 0x41, 0, 0x0b]],
      ...Array.from({ length: FUNCTIONS }, (_, i) => [`f${i}`, 2, code()] as const),
    ],
    sections: [
      [4, [1, 0x70, 0, FUNCTIONS]],
      [9, [1, 0, 0x41, 0, 0x0b, FUNCTIONS, ...Array.from({ length: FUNCTIONS }, (_, i) => i + 2)]],
    ],
  });
}
