/** Every place that a module writes to is noted, so that it is restored before the next call. */
import { describe, expect, it } from 'vitest';
import { exportedTable } from '../module-state.ts';
import { ByteWriter } from './bytes.ts';
import { REFUEL } from './injected.ts';
import { moduleOf } from './module-of.ts';
import { ENTER, rewriteModule, WRITTEN } from './rewrite.ts';
import { STORE_REACH, WRITTEN_BITS } from './written.ts';

const PAGE = 65_536;
/** Pages of a memory whose blocks are in a table. */
const LARGE = 66;
const i32 = (value: number) => [...new ByteWriter().u8(0x41).s32(value).take()];
const u32 = (value: number) => [...new ByteWriter().u32(value).take()];
const END = [0x41, 0, 0x0b];

type Exported = (...args: (number | bigint)[]) => number;

/** Runs the code; returns each byte that it changed in a memory full of ones, and the blocks that were noted. */
function run(code: readonly number[], pages: number) {
  const wasm = moduleOf({
    memory: [0, ...u32(pages)],
    functions: [
      ['init', 0, END],
      ['on_request', 0, code],
    ],
    sections: [
      [12, [1]],
      [11, [1, 1, 4, 0x61, 0x62, 0x63, 0x64]],
    ],
  });
  const { bytes, blockBits } = rewriteModule(wasm, 16 << 20);
  const [refuel, wait] = REFUEL.names;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    [REFUEL.module]: { [refuel]: () => 65_536, [wait]: () => 65_536 },
  });
  const call = (name: string, ...args: number[]) => Number((exports[name] as Exported)(...args));
  const ofMemory = () => new Uint8Array((exports['memory'] as WebAssembly.Memory).buffer);
  const { length } = ofMemory().fill(1);
  call(ENTER, 1_000_000);
  let trapped = false;
  try {
    call('on_request');
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    trapped = true;
  }
  const halves = [call(WRITTEN, 0), call(WRITTEN, 1)];
  const table = exportedTable(exports);
  const isNoted = (address: number) => {
    if (table !== null) return table[address >>> blockBits] === 1;
    const block = (address >>> blockBits) % WRITTEN_BITS;
    return (((halves[block >> 5] ?? 0) >>> (block & 31)) & 1) === 1;
  };
  const changed: number[] = [];
  ofMemory().forEach((byte, address) => {
    if (byte !== (address < length ? 1 : 0)) changed.push(address);
  });
  const missed = changed.filter((address) => !isNoted(address) && !isNoted(address - STORE_REACH));
  const ofHalves = halves.reduce((sum, half) => sum + (half >>> 0).toString(2).replaceAll('0', '').length, 0);
  const bits = ofHalves + (table?.reduce((sum, byte) => sum + byte, 0) ?? 0);
  return { changed: changed.length, missed, bits, trapped };
}

/** Values of each type, and the instructions that store them, by the number of bytes. */
const VALUES = {
  i32: i32(0),
  i64: [0x42, 0],
  f32: [0x43, 0, 0, 0, 0],
  f64: [0x44, 0, 0, 0, 0, 0, 0, 0, 0],
  v128: [0xfd, 12, ...Array.from({ length: 16 }, () => 0)],
};
const STORES: readonly (readonly [
  name: string,
  value: readonly number[],
  opcode: readonly number[],
  bytes: number,
  lane: readonly number[],
])[] = [
  ['i32.store', VALUES.i32, [0x36], 4, []],
  ['i64.store', VALUES.i64, [0x37], 8, []],
  ['f32.store', VALUES.f32, [0x38], 4, []],
  ['f64.store', VALUES.f64, [0x39], 8, []],
  ['i32.store8', VALUES.i32, [0x3a], 1, []],
  ['i32.store16', VALUES.i32, [0x3b], 2, []],
  ['i64.store8', VALUES.i64, [0x3c], 1, []],
  ['i64.store16', VALUES.i64, [0x3d], 2, []],
  ['i64.store32', VALUES.i64, [0x3e], 4, []],
  ['v128.store', VALUES.v128, [0xfd, 11], 16, []],
  ['v128.store8_lane', VALUES.v128, [0xfd, 88], 1, [0]],
  ['v128.store16_lane', VALUES.v128, [0xfd, 89], 2, [0]],
  ['v128.store32_lane', VALUES.v128, [0xfd, 90], 4, [0]],
  ['v128.store64_lane', VALUES.v128, [0xfd, 91], 8, [0]],
];

/** Addresses, with what the instruction adds to them, at which blocks begin, end or share a bit. */
const PLACES: readonly (readonly [address: number, offset: number, pages: number])[] = [
  [0, 0, 1],
  [1_020, 0, 1],
  [1_023, 0, 1],
  [1, 1_023, 1],
  [65_500, 0, 1],
  [200_000, 0, 17],
  [1_048_570, 5, 17],
  [9, 1_000_000, 17],
  [4_095, 0, LARGE],
  [1, 4_095, LARGE],
  [4_300_000, 0, LARGE],
];

describe('a write to memory', () => {
  it.each(STORES)('by %s is noted, wherever it goes', (_name, value, opcode, bytes, lane) => {
    for (const [address, offset, pages] of PLACES) {
      const store = [...i32(address), ...value, ...opcode, 0, ...u32(offset), ...lane];
      expect(run([...store, ...END], pages)).toEqual({ changed: bytes, missed: [], bits: 1, trapped: false });
    }
  });

  const FILL = [0xfc, 11, 0];
  const COPY = [0xfc, 10, 0, 0];
  it.each<readonly [string, readonly number[], pages: number, changed: number, bits: number]>([
    ['a fill', [...i32(1_000), ...i32(0), ...i32(50), ...FILL], 1, 50, 2],
    ['a fill of no bytes', [...i32(100), ...i32(0), ...i32(0), ...FILL], 1, 0, 1],
    ['a fill of a whole page', [...i32(0), ...i32(0), ...i32(PAGE), ...FILL], 1, PAGE, 64],
    ['a fill of all but a block', [...i32(1_024), ...i32(0), ...i32(PAGE - 1_024), ...FILL], 1, PAGE - 1_024, 63],
    ['a fill of pages', [...i32(70_000), ...i32(0), ...i32(300_000), ...FILL], 17, 300_000, 10],
    [
      'a copy of what was just stored',
      [...i32(8), ...i32(0), 0x36, 0, 0, ...i32(5_000), ...i32(8), ...i32(4), ...COPY],
      1,
      8,
      2,
    ],
    [
      'a long copy to a place behind, from the end',
      [...i32(100), ...i32(0), ...i32(200_000), ...FILL, ...i32(100_100), ...i32(100), ...i32(200_000), ...COPY],
      17,
      300_000,
      10,
    ],
    ['a fill of no bytes at the start of a large memory', [...i32(0), ...i32(0), ...i32(0), ...FILL], LARGE, 0, 0],
    ['a fill of no bytes at its end', [...i32(LARGE * PAGE), ...i32(0), ...i32(0), ...FILL], LARGE, 0, 0],
    ['a fill up to its end', [...i32(LARGE * PAGE - 5_000), ...i32(0), ...i32(5_000), ...FILL], LARGE, 5_000, 2],
    ['a fill of its pages', [...i32(70_000), ...i32(0), ...i32(300_000), ...FILL], LARGE, 300_000, 74],
    [
      'a long copy in a large memory, from the end',
      [...i32(100), ...i32(0), ...i32(200_000), ...FILL, ...i32(100_100), ...i32(100), ...i32(200_000), ...COPY],
      LARGE,
      300_000,
      74,
    ],
    ['data of a segment in a large memory', [...i32(8_190), ...i32(0), ...i32(4), 0xfc, 8, 0, 0], LARGE, 4, 2],
    ['data of a segment', [...i32(2_046), ...i32(0), ...i32(4), 0xfc, 8, 0, 0], 1, 4, 2],
  ])('by %s is noted', (_name, code, pages, changed, bits) => {
    expect(run([...code, ...END], pages)).toEqual({ changed, missed: [], bits, trapped: false });
  });

  it.each<readonly [string, readonly number[]]>([
    ['a fill past the end', [...i32(1_000), ...i32(0), ...i32(-1), ...FILL]],
    ['a store past the end', [...i32(5_000), ...i32(0), 0x36, 0, 0, ...i32(-4), ...i32(0), 0x36, 0, 0]],
  ])('by %s is noted as far as it goes', (_name, code) => {
    for (const pages of [2, LARGE]) {
      const { missed, trapped } = run([...code, ...END], pages);
      expect({ missed, trapped }).toEqual({ missed: [], trapped: true });
    }
  });

  it('is noted in memory that has grown to its limit', () => {
    const limit = (16 << 20) / PAGE;
    const grow = [...i32(limit - LARGE), 0x40, 0, 0x1a];
    const last = [...i32(limit * PAGE - 4), ...i32(-1), 0x36, 0, 0];
    const none = [...i32(limit * PAGE), ...i32(0), ...i32(0), ...FILL];
    expect(run([...grow, ...last, ...none, ...END], LARGE)).toMatchObject({ changed: 4, missed: [], trapped: false });
  });
});
