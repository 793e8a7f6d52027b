/**
 * Notes where a module writes to its memory, so that only those places are restored after a call. Memory is seen as
 * blocks of equal size, and an injected global has a bit for each of 64 of them: block 64 shares the bit of block 0, so
 * that memory which has grown is covered, too. If a module begins with much memory, 64 blocks would be large ones: such a
 * module gets a table instead, a second memory that only injected code reaches, with a byte for each block. Noting has no
 * branch, so that it costs a compiler little (`complexity.ts`), and may note too much, never too little: a write that the
 * engine refuses is noted all the same, or refused when it is noted, since the table covers all memory that a module may
 * have.
 */
import type { ByteWriter } from './bytes.ts';
import type { Instruction } from './instructions.ts';
import type { ValueType } from './types.ts';

/** Bits of the global. */
export const WRITTEN_BITS = 64;
/** Bytes that a store may reach into the block behind the one that is noted for it: a vector has 16. */
export const STORE_REACH = 15;

const PAGE = 65_536;
/** Smaller blocks would save less than looking for them costs. */
const SMALLEST_BLOCK_BITS = 10;
/** Restoring larger blocks costs more than a table. */
const LARGEST_BLOCK_BITS = 16;
/** Blocks of a table are pages of the operating system. */
const TABLE_BLOCK_BITS = 12;

/** The blocks of a module's memory. */
export interface Blocks {
  /** Binary logarithm of the size of a block. */
  readonly blockBits: number;
  /** Pages of the table; 0: blocks have bits of the global. */
  readonly tablePages: number;
}

/** Blocks, and the index of the global. */
export interface WrittenLayout extends Blocks {
  readonly written: number;
}

/** Returns the blocks of a memory that begins with `pages`, and may have `most` of them. */
export function blocksOf(pages: number, most: number): Blocks {
  const bits = Math.ceil(Math.log2(Math.max(1, pages * PAGE) / WRITTEN_BITS));
  if (bits <= LARGEST_BLOCK_BITS) return { blockBits: Math.max(SMALLEST_BLOCK_BITS, bits), tablePages: 0 };
  return { blockBits: TABLE_BLOCK_BITS, tablePages: Math.ceil(most / (1 << TABLE_BLOCK_BITS)) };
}

const VECTOR_PREFIX = 0xfd;
const STORED: Readonly<Record<number, StoredType>> = {
  54: 'i32',
  55: 'i64',
  56: 'f32',
  57: 'f64',
  58: 'i32',
  59: 'i32',
  60: 'i64',
  61: 'i64',
  62: 'i64',
  [VECTOR_PREFIX]: 'v128',
};

/** Types of values that are stored. */
export type StoredType = Exclude<ValueType, 'funcref' | 'externref'>;

/** Returns the type of the value that a store takes. */
export function storedType({ opcode }: Pick<Instruction, 'opcode'>): StoredType {
  return STORED[opcode] ?? 'i32';
}

/** Locals of a function that hold an operand for a moment. */
export interface ScratchLocals {
  readonly address: number;
  readonly value: number;
}

/** Goes before a store: notes its block, and leaves address and value on the stack as they were. */
export function noteStore(out: ByteWriter, offset: number, locals: ScratchLocals, layout: WrittenLayout): void {
  const { address, value } = locals;
  const isTable = layout.tablePages > 0;
  out.u8(0x21).u32(value).u8(0x22).u32(address);
  if (!isTable) out.u8(0x23).u32(layout.written).u8(0x42).s32(1);
  out.u8(0x20).u32(address);
  // A sum that does not fit 32 bits belongs to a store that the engine refuses.
  if (offset !== 0) out.u8(0x41).s32(offset).u8(0x6a);
  if (isTable) blockOf(out, layout).u8(0x41).s32(1).raw(STORE_IN_TABLE);
  else wideBlockOf(out, layout).u8(0x86).u8(0x84).u8(0x24).u32(layout.written);
  out.u8(0x20).u32(value);
}

/** `i32.store8` and `memory.fill` of the second memory, which a module's own code cannot name. */
const STORE_IN_TABLE = Uint8Array.of(0x3a, 0x40, 1, 0);
const FILL_IN_TABLE = Uint8Array.of(0xfc, 11, 1);
export const TABLE_INSTRUCTIONS = [STORE_IN_TABLE, FILL_IN_TABLE] as const;

/**
 * Notes the blocks of a range of 0 to 65,536 bytes. `first`, `last`: write instructions that put the address of its
 * first and last byte on the stack. `blocks`: a local for the number of blocks behind the first.
 */
export function noteRange(
  out: ByteWriter,
  first: (out: ByteWriter) => ByteWriter,
  last: (out: ByteWriter) => ByteWriter,
  blocks: number,
  layout: WrittenLayout,
): void {
  const { blockBits, written } = layout;
  if (layout.tablePages > 0) return noteRangeInTable(out, first, last, layout);
  last(out).u8(0x41).s32(blockBits).u8(0x76);
  first(out).u8(0x41).s32(blockBits).u8(0x76).u8(0x6b).u8(0x21).u32(blocks);
  out.u8(0x23).u32(written);
  // All bits if there are 64 blocks or more; else as many as there are blocks, from the first one's on.
  out.u8(0x42).s32(-1);
  out.u8(0x42).s32(2).u8(0x20).u32(blocks).u8(0xad).u8(0x86).u8(0x42).s32(1).u8(0x7d);
  out
    .u8(0x20)
    .u32(blocks)
    .u8(0x41)
    .s32(WRITTEN_BITS - 1)
    .u8(0x4f)
    .u8(0x1b);
  wideBlockOf(first(out), layout).u8(0x89).u8(0x84).u8(0x24).u32(written);
}

/** Fills as many bytes of the table as the blocks of (last - first) + (first's place in its block) + a block. */
function noteRangeInTable(
  out: ByteWriter,
  first: (out: ByteWriter) => ByteWriter,
  last: (out: ByteWriter) => ByteWriter,
  layout: WrittenLayout,
): void {
  const size = 1 << layout.blockBits;
  blockOf(first(out), layout).u8(0x41).s32(1);
  first(last(out)).u8(0x6b);
  first(out)
    .u8(0x41)
    .s32(size - 1)
    .u8(0x71)
    .u8(0x6a);
  blockOf(out.u8(0x41).s32(size).u8(0x6a), layout).raw(FILL_IN_TABLE);
}

/** Takes an address from the stack, and puts the number of its block there. */
function blockOf(out: ByteWriter, { blockBits }: WrittenLayout): ByteWriter {
  return out.u8(0x41).s32(blockBits).u8(0x76);
}

/** The same as i64. */
function wideBlockOf(out: ByteWriter, layout: WrittenLayout): ByteWriter {
  return blockOf(out, layout).u8(0xad);
}

/** The body of the injected function that returns half of the global: bits 0 to 31 for 0, else 32 to 63. */
export function writtenHalf(out: ByteWriter, { written }: WrittenLayout): ByteWriter {
  out.u32(0).u8(0x23).u32(written).u8(0x20).u32(0).u8(0xad).u8(0x42).s32(5).u8(0x86);
  return out.u8(0x88).u8(0xa7).u8(0x0b);
}

/** Sets the global to no blocks. */
export function clearWritten(out: ByteWriter, { written }: WrittenLayout): void {
  out.u8(0x42).s32(0).u8(0x24).u32(written);
}
