/**
 * Notes where a module writes to its memory, so that only those places are restored after a call. Memory is seen as
 * blocks of equal size, and an injected global has a bit for each of 64 of them: block 64 shares the bit of block 0, so
 * that memory which has grown is covered, too. Noting has no branch, so that it costs a compiler little
 * (`complexity.ts`), and may note too much, never too little: a write that the engine refuses is noted all the same.
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

/** Place of the global, and the binary logarithm of the size of a block. */
export interface WrittenLayout {
  readonly written: number;
  readonly blockBits: number;
}

/** Returns the binary logarithm of the size of a block, for a memory that begins with so many pages. */
export function blockBitsOf(pages: number): number {
  const blocks = Math.max(1, pages * PAGE) / WRITTEN_BITS;
  return Math.max(SMALLEST_BLOCK_BITS, Math.ceil(Math.log2(blocks)));
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
  out.u8(0x21).u32(value).u8(0x22).u32(address);
  out.u8(0x23).u32(layout.written).u8(0x42).s32(1).u8(0x20).u32(address);
  // A sum that does not fit 32 bits belongs to a store that the engine refuses.
  if (offset !== 0) out.u8(0x41).s32(offset).u8(0x6a);
  blockOf(out, layout).u8(0x86).u8(0x84).u8(0x24).u32(layout.written);
  out.u8(0x20).u32(value);
}

/**
 * Notes the blocks of a range of 1 to 65,536 bytes. `first`, `last`: write instructions that put the address of its
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
  blockOf(first(out), layout).u8(0x89).u8(0x84).u8(0x24).u32(written);
}

/** Takes an address from the stack, and puts the number of its block there, as i64. */
function blockOf(out: ByteWriter, { blockBits }: WrittenLayout): ByteWriter {
  return out.u8(0x41).s32(blockBits).u8(0x76).u8(0xad);
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
