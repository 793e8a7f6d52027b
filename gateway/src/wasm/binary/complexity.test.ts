/** Modules that are small and costly to compile do not load; what counts the costs knows what each instruction does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { ByteReader } from './bytes.ts';
import { complexityOf } from './complexity.ts';
import { blankInstruction, readInstruction } from './instructions.ts';
import { COMPLEXITY_LIMITS } from './limits.ts';
import { moduleOf } from './module-of.ts';
import { randomModule } from './random-module.test-support.ts';
import { rewriteModule } from './rewrite.ts';
import { again, readFunctions, readSections, readTypes } from './sections.ts';
import { heightAfter } from './stack-effects.ts';

const MEMORY = 16 << 20;
const END = 0x0b;
const MOST_CODE = 500_000;
const uleb = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...uleb(value >>> 7)]);

/** A block of the type below that takes and returns many values: type 10 of the module. */
const WIDE = 900;

/** A kind of hostile code: `times` of `unit` between `before` and `after`, and what compilers hold for each. */
interface Hostile {
  readonly name: string;
  readonly before?: readonly number[];
  readonly unit: readonly number[];
  readonly after?: readonly number[];
  /** `unit` is repeated, then this as often. */
  readonly closing?: readonly number[];
  /** Values on the stack that each unit sees, beyond the locals. */
  readonly values?: number;
  /** Functions that are called: they return WIDE values of nothing. */
  readonly calls?: boolean;
}

const wide = [0x10, 2];
const HOSTILE: readonly Hostile[] = [
  { name: 'empty loops', unit: [0x03, 0x40, END] },
  { name: 'loops that go on', unit: [0x03, 0x40, 0x41, 0, 0x0d, 0, END] },
  { name: 'blocks that are left', unit: [0x02, 0x40, 0x41, 0, 0x0d, 0, END] },
  { name: 'conditions', unit: [0x41, 0, 0x04, 0x40, END] },
  { name: 'alternatives', unit: [0x41, 0, 0x04, 0x40, 0x05, END] },
  { name: 'nested blocks', unit: [0x02, 0x40], closing: [END] },
  { name: 'nested conditions', unit: [0x41, 0, 0x04, 0x40], closing: [END] },
  { name: 'calls', unit: [0x10, 0, 0x1a] },
  { name: 'fills', unit: [0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0] },
  { name: 'loops above a high stack', before: wide, unit: [0x03, 0x40, END], after: [0], values: WIDE },
  { name: 'blocks above a high stack', before: wide, unit: [0x02, 0x40, END], after: [0], values: WIDE },
  { name: 'loops that take many values', before: wide, unit: [0x03, 11, END], after: [0], values: WIDE },
  { name: 'blocks that take many values', before: wide, unit: [0x02, 11, END], after: [0], values: WIDE },
  { name: 'calls that return many values', unit: wide, after: [0], values: WIDE },
  {
    name: 'branches with many values in dead code',
    before: [0x02, 10, 0],
    unit: [0x0c, 0],
    after: [END, 0],
    values: WIDE,
  },
  { name: 'returns in dead code, behind calls', before: [0], unit: [...wide, 0x0f], after: [], values: WIDE },
];

function hostileModule({ before = [], unit, after = [], closing = [] }: Hostile, locals: number, times: number) {
  const code = [before, ...Array(times).fill(unit), ...Array(times).fill(closing), after, [0x41, 0, END]].flat();
  const functions = [
    ['init', 0, Uint8Array.from(code)],
    ['on_request', 0, [0x41, 0, END]],
    ['wide', 10, [0, END]],
  ] as const;
  return moduleOf({
    functions,
    locals: [1, ...uleb(locals), 0x7f],
    types: [
      [0x60, 0, ...uleb(WIDE), ...Array(WIDE).fill(0x7f)],
      [0x60, ...uleb(WIDE), ...Array(WIDE).fill(0x7f), ...uleb(WIDE), ...Array(WIDE).fill(0x7f)],
    ],
  });
}

/** What is refused, and null for what loads. */
function refusalOf(module: Uint8Array): string | null {
  try {
    rewriteModule(module, MEMORY);
    return null;
  } catch (error) {
    return String(error);
  }
}

describe('what is costly to compile', () => {
  it.each(HOSTILE)('$name: refuses more than the product of places and values allows', (hostile) => {
    const width = hostile.unit.length + (hostile.closing?.length ?? 0);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5_000 }),
        fc.integer({ min: 1, max: Math.floor(MOST_CODE / width) }),
        (locals, times) => {
          const refusal = refusalOf(hostileModule(hostile, locals, times));
          const product = times * (locals + (hostile.values ?? 0));
          if (product > COMPLEXITY_LIMITS.function.merges) expect(refusal).toMatch(/too complex to compile/);
          // An honest function has far less than this.
          if (product * 12 + times < 1_000_000 && times < 1_000) expect(refusal).toBeNull();
        },
      ),
      propertyRuns(12),
    );
  });

  it('refuses a table of many branches over many locals', () => {
    const targets = 2_000;
    const code = [0x02, 0x40, 0x41, 0, 0x0e, ...uleb(targets), ...Array(targets + 1).fill(0), END, 0x41, 0, END];
    const module = moduleOf({ code, locals: [1, ...uleb(3_000), 0x7f] });
    expect(refusalOf(module)).toMatch(/too complex to compile: more than 4000000 locals and values/);
  });

  it('refuses loops nested so deep that reading each again costs more than the code', () => {
    const depth = 6_000;
    const nested = [...Array(depth).fill([0x03, 0x40]), ...Array(depth).fill([END]), [0x41, 0, END]].flat();
    expect(refusalOf(moduleOf({ code: nested }))).toMatch(/more than (8000000 bytes of code in loops|5000 loops)/);
    const long = [
      ...Array(200).fill([0x03, 0x40]),
      ...Array(90_000).fill([0x01]),
      ...Array(200).fill([END]),
      [0x41, 0, END],
    ];
    expect(refusalOf(moduleOf({ code: long.flat() }))).toMatch(/more than 8000000 bytes of code in loops/);
  });

  it('refuses a module whose functions are costly together', () => {
    const one = [...Array(700).fill([0x03, 0x40, END]).flat(), END];
    const functions = Array.from({ length: 30 }, (_, i) => [`f${i}`, 2, one] as const);
    const module = (count: number) =>
      moduleOf({
        functions: [['init', 0], ['on_request', 0], ...functions.slice(0, count)],
        locals: [1, ...uleb(1_200), 0x7f],
      });
    expect(refusalOf(module(10))).toBeNull();
    expect(refusalOf(module(30))).toMatch(/the module is, all functions together, too complex to compile/);
  });
});

describe('the height of the operand stack', () => {
  /** The types of an operand that an instruction may take, each with the code that makes one. */
  const OPERANDS = [
    [0x41, 0],
    [0x42, 0],
    [0x43, 0, 0, 0, 0],
    [0x44, 0, 0, 0, 0, 0, 0, 0, 0],
    [0xfd, 12, ...Array(16).fill(0)],
    [0xd0, 0x70],
  ];
  const memoryArgument = [0, 0];

  /** Instructions with their immediates; all but those that begin, end or leave blocks, call, or are refused. */
  function instructions(): number[][] {
    const simple = [0x01, 0x1a, 0x1b, 0xd1, ...range(0x45, 0xc4)].map((opcode) => [opcode]);
    const local = [0x20, 0x21, 0x22, 0x23, 0x24, 0x25].map((opcode) => [opcode, 0]);
    const memory = range(0x28, 0x3e).map((opcode) => [opcode, ...memoryArgument]);
    const prefixed = [...range(0, 7).map((sub) => [sub]), [8, 0, 0], [10, 0, 0], [11, 0], [16, 0]];
    const vectors = range(0, 255).filter(
      (sub) =>
        ![154, 162, 165, 166, 175, 176, 178, 179, 180, 187, 194, 197, 198, 207, 208, 210, 211, 212, 226, 238].includes(
          sub,
        ),
    );
    return [
      ...simple,
      ...local,
      ...memory,
      [0x1c, 1, 0x7f],
      [0x3f, 0],
      [0x40, 0],
      ...OPERANDS,
      [0xd2, 0],
      ...prefixed.map((code) => [0xfc, ...code]),
      ...vectors.map((sub) => [0xfd, ...uleb(sub), ...vectorImmediates(sub)]),
    ];
  }

  function vectorImmediates(sub: number): number[] {
    if (sub <= 11 || sub === 92 || sub === 93) return memoryArgument;
    if (sub === 12 || sub === 13) return Array(16).fill(0);
    if (sub >= 21 && sub <= 34) return [0];
    if (sub >= 84 && sub <= 91) return [...memoryArgument, 0];
    return [];
  }

  function range(from: number, to: number): number[] {
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  }

  /** The engine takes the instruction with these operands, and finds so many values behind it. */
  function isValid(operands: readonly (readonly number[])[], instruction: readonly number[], put: number): boolean {
    const module = moduleOf({
      code: [operands.flat(), instruction, Array(put).fill(0x1a), [0x41, 0, END]].flat(),
      locals: [1, 1, 0x7f],
      sections: [
        [4, [1, 0x70, 0, 1]],
        [6, [1, 0x7f, 1, 0x41, 0, END]],
        [9, [1, 3, 0, 1, 0]],
        [12, [1]],
        [11, [1, 1, 0]],
      ],
    });
    return WebAssembly.validate(new Uint8Array(module));
  }

  /** Every way to give so many operands. */
  function choices(count: number): (readonly number[])[][] {
    if (count === 0) return [[]];
    return choices(count - 1).flatMap((rest) => OPERANDS.map((operand) => [...rest, operand]));
  }

  const all = instructions();
  const known = all.map((code) => {
    const instruction = blankInstruction();
    readInstruction(new ByteReader(Uint8Array.from(code)), instruction);
    const put = heightAfter(instruction, 0, 0);
    const taken = 100 + put - heightAfter(instruction, 100, 0);
    return { code, taken, put };
  });

  it.each(known)('$code takes $taken and puts $put', ({ code, taken, put }) => {
    expect(choices(taken).some((operands) => isValid(operands, code, put))).toBe(true);
  });

  it('is what the function returns, at the end of each', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const sections = readSections(new Uint8Array(randomModule(seed)));
        const types = readTypes(sections[1]);
        const functions = readFunctions(sections[3]);
        const code = again(sections[10]);
        const signatures = {
          ofFunction: (index: number) => types[functions[index] ?? -1],
          ofType: (index: number) => types[index],
        };
        for (let own = 0, left = code?.u32() ?? 0; code && own < left; own++) {
          const { height } = complexityOf(code.slice(code.u32()), signatures.ofFunction(own), signatures);
          expect(height).toBe(signatures.ofFunction(own)?.results.length);
        }
      }),
      propertyRuns(100),
    );
  });
});
