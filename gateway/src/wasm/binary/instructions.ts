/** Skips instructions: reads their immediates and costs, and refuses some. */

import type { ByteReader } from './bytes.ts';
import { PluginLoadError } from './plugin-load-error.ts';
import { valueType } from './types.ts';

/** Kinds of instructions that the meter tells apart; all others are `plain`. */
type InstructionKind =
  | 'plain'
  | 'open'
  | 'loop'
  | 'if'
  | 'else'
  | 'end'
  | 'br'
  | 'br_if'
  | 'br_table'
  | 'leave'
  | 'call'
  | 'tail call'
  | 'indirect'
  | 'ref.func'
  | 'memory.init'
  | 'memory.copy'
  | 'memory.fill'
  | 'store'
  | 'grow';

/** Reused for every instruction of a module, so that reading megabytes of code needs no allocation. */
export interface Instruction {
  kind: InstructionKind;
  opcode: number;
  /**
   * Index of the function (`call`, `tail call`, `ref.func`), of the type (`indirect`), of the data segment
   * (`memory.init`), or of the block that is left (`br`, `br_if`, and by default `br_table`).
   */
  index: number;
  /** The block's type (`open`, `if`, `loop`), the targets of `br_table`, or the opcode behind the prefixes 0xfc and 0xfd. */
  immediate: number;
  /** Of a `store`: what it adds to the address. */
  offset: number;
}

const FIRST_STORE = 0x36;

/** Block types that are not the index of a type. */
const NO_RESULT = -1;
export const ONE_RESULT = -2;

export function blankInstruction(): Instruction {
  return { kind: 'plain', opcode: 0, index: 0, immediate: 0, offset: 0 };
}

/**
 * Reads one instruction with its immediates into `into`. Throws PluginLoadError for instructions that the ABI refuses.
 */
export function readInstruction(code: ByteReader, into: Instruction): void {
  const opcode = code.u8();
  into.opcode = opcode;
  into.kind = 'plain';
  if (opcode >= 0x45 && opcode <= 0xc4) return;
  if (opcode >= 0x28 && opcode <= 0x3e) {
    if (opcode < FIRST_STORE) return memoryArgument(code);
    return storeArgument(code, into);
  }
  switch (opcode) {
    case 0x00: // unreachable
    case 0x0f: // return
      into.kind = 'leave';
      return;
    case 0x01: // nop
    case 0x1a: // drop
    case 0x1b: // select
    case 0xd1: // ref.is_null
      return;
    case 0x02: // block
      into.kind = 'open';
      return blockType(code, into);
    case 0x04:
      into.kind = 'if';
      return blockType(code, into);
    case 0x03:
      into.kind = 'loop';
      return blockType(code, into);
    case 0x05:
      into.kind = 'else';
      return;
    case 0x0b:
      into.kind = 'end';
      return;
    case 0x0c:
    case 0x0d:
      into.kind = opcode === 0x0c ? 'br' : 'br_if';
      into.index = code.u32();
      return;
    case 0x20: // local.get
    case 0x21: // local.set
    case 0x22: // local.tee
    case 0x23: // global.get
    case 0x24: // global.set
    case 0x25: // table.get
      code.skipLeb();
      return;
    case 0x0e: {
      into.kind = 'br_table';
      into.immediate = code.u32();
      for (let left = into.immediate; left >= 0; left--) into.index = code.u32();
      return;
    }
    case 0x10: // call
    case 0x12: // return_call
      into.kind = opcode === 0x10 ? 'call' : 'tail call';
      into.index = code.u32();
      return;
    case 0x11: // call_indirect
    case 0x13: // return_call_indirect
      into.kind = 'indirect';
      into.index = code.u32();
      code.skipLeb();
      return;
    case 0x1c: {
      for (let left = code.u32(); left > 0; left--) knownType(code.u8());
      return;
    }
    case 0x3f: // memory.size
      return onlyMemory(code);
    case 0x40: // memory.grow
      into.kind = 'grow';
      return onlyMemory(code);
    case 0x41: // i32.const
    case 0x42: // i64.const
      return code.skipLeb();
    case 0x43:
      return code.skip(4);
    case 0x44:
      return code.skip(8);
    case 0xd0: // ref.null
      return knownType(code.u8());
    case 0xd2:
      into.kind = 'ref.func';
      into.index = code.u32();
      return;
    case 0xfc:
      return prefixed(code, into);
    case 0xfd:
      return vector(code, into);
    default:
      throw refused(opcode);
  }
}

const refusals: readonly { readonly opcodes: readonly number[]; readonly what: string }[] = [
  { opcodes: [0x26], what: 'changes a table at run time (table.set)' },
  { opcodes: [0x06, 0x07, 0x08, 0x09, 0x0a, 0x18, 0x19, 0x1f], what: 'uses exceptions' },
  { opcodes: [0x14, 0x15, 0xd4, 0xd5, 0xd6], what: 'uses typed function references' },
  { opcodes: [0xd3, 0xfb], what: 'uses garbage-collected types' },
  { opcodes: [0xfe], what: 'uses threads or atomic instructions' },
];

function refused(opcode: number): PluginLoadError {
  const known = refusals.find(({ opcodes }) => opcodes.includes(opcode));
  if (known) return new PluginLoadError(`the module ${known.what}, which plugins may not: compile it without`);
  return new PluginLoadError(`the module uses the unknown instruction 0x${opcode.toString(16)}`);
}

function knownType(byte: number): void {
  if (valueType(byte) === undefined) throw refused(0xfb);
}

function blockType(code: ByteReader, into: Instruction): void {
  const first = code.peek();
  if (first < 0x40 || first >= 0x80) {
    into.immediate = code.u32();
    return;
  }
  code.u8();
  into.immediate = first === 0x40 ? NO_RESULT : ONE_RESULT;
  if (first !== 0x40) knownType(first);
}

function memoryArgument(code: ByteReader): void {
  onlyAlignment(code);
  code.skipLeb();
}

function storeArgument(code: ByteReader, into: Instruction): void {
  into.kind = 'store';
  onlyAlignment(code);
  into.offset = code.u32();
}

function onlyAlignment(code: ByteReader): void {
  if (code.u32() >= 0x40) throw new PluginLoadError('the module has more than one memory: compile it with one');
}

function onlyMemory(code: ByteReader): void {
  if (code.u8() !== 0) throw new PluginLoadError('the module has more than one memory: compile it with one');
}

/** Saturating conversions, bulk memory and tables. */
function prefixed(code: ByteReader, into: Instruction): void {
  const sub = code.u32();
  into.immediate = sub;
  if (sub <= 7) return;
  if (sub === 8) {
    into.kind = 'memory.init';
    into.index = code.u32();
    return onlyMemory(code);
  }
  if (sub === 10) {
    into.kind = 'memory.copy';
    onlyMemory(code); // it names two memories
    return onlyMemory(code);
  }
  if (sub === 11) {
    into.kind = 'memory.fill';
    return onlyMemory(code);
  }
  if (sub === 16) return code.skipLeb(); // table.size
  const names = new Map([
    [9, 'data.drop'],
    [12, 'table.init'],
    [13, 'elem.drop'],
    [14, 'table.copy'],
    [15, 'table.grow'],
    [17, 'table.fill'],
  ]);
  const name = names.get(sub);
  if (name === undefined) throw new PluginLoadError(`the module uses the unknown instruction 0xfc ${sub}`);
  throw new PluginLoadError(
    `the module changes tables or segments at run time (${name}), which cannot be put back between requests: compile it without`,
  );
}

/** 128-bit vectors, without the relaxed ones: their results differ between machines. */
function vector(code: ByteReader, into: Instruction): void {
  const sub = code.u32();
  into.immediate = sub;
  if (sub > 0xff) throw new PluginLoadError('the module uses relaxed SIMD: compile it with plain SIMD');
  if (sub === 11) return storeArgument(code, into);
  if (sub <= 10 || sub === 92 || sub === 93) return memoryArgument(code);
  if (sub === 12 || sub === 13) return code.skip(16);
  if (sub >= 21 && sub <= 34) return code.skip(1);
  if (sub >= 84 && sub <= 91) {
    if (sub >= 88) storeArgument(code, into);
    else memoryArgument(code);
    return code.skip(1);
  }
}
