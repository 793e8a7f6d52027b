/** Additions to a module: instructions that take fuel, and the functions that they call. */
import { ByteWriter } from './bytes.ts';
import { GROW_COST } from './costs.ts';
import { type MutableGlobal, valueByte } from './types.ts';
import { clearWritten, noteRange, type WrittenLayout, writtenHalf } from './written.ts';

/** Places of the injected parts in the rewritten module. */
export interface MeterLayout extends WrittenLayout {
  /** Imported functions of the original; every index from here on moves up by `addedImports`. */
  readonly importedFunctions: number;
  readonly addedImports: number;
  /** Index of the fuel global. */
  readonly fuel: number;
  /** Index of the first injected type: see `writeInjectedTypes`. */
  readonly types: number;
  /** Index of the first injected function. */
  readonly functions: number;
  /** Segments of data that memory is initialised from, and their places: each has a function for long ones. */
  readonly initialised: ReadonlyMap<number, number>;
}

/** Injected imports, in their order. `refuel` returns more fuel, or 0 if `wait` is to return it later. */
export const REFUEL = { module: 'gw:host', names: ['refuel', 'wait'] } as const;

/** Bulk memory goes in pieces of this many bytes, with a look at the fuel after each. */
const PIECE = 65_536;
/** 2^3 bytes of it cost one unit. */
const BULK_SHIFT = 3;

type Bulk = 'memory.copy' | 'memory.fill';

const fillCode = [0xfc, 11, 0] as const;
const copyCode = [0xfc, 10, 0, 0] as const;

/** Offsets of the injected types. */
const REFUEL_TYPE = 0; // () -> i32
const REFILL_TYPE = 1; // () -> ()
const BULK_TYPE = 2; // (i32, i32, i32) -> ()
const GROW_TYPE = 3; // (i32) -> i32
const WRITTEN_TYPE = 3; // (i32) -> i32
const ENTER_TYPE = 4; // (the fuel, and every mutable global) -> ()
export const INJECTED_TYPES = 5;

/** Offsets of the injected functions, before those of `initialised`; the last two are `written` and `enter`. */
const REFILL = 0;
const FILL = 1;
const COPY = 2;
const GROW = 3;
const INIT = 4;

export function writeInjectedTypes(out: ByteWriter, mutable: readonly MutableGlobal[]): void {
  out.u8(0x60).u8(0).u8(1).u8(0x7f);
  out.u8(0x60).u8(0).u8(0);
  out.u8(0x60).u8(3).u8(0x7f).u8(0x7f).u8(0x7f).u8(0);
  out.u8(0x60).u8(1).u8(0x7f).u8(1).u8(0x7f);
  out
    .u8(0x60)
    .u32(mutable.length + 1)
    .u8(0x7f);
  for (const { type } of mutable) out.u8(valueByte[type]);
  out.u8(0);
}

export function writeInjectedImports(out: ByteWriter, { types }: MeterLayout): void {
  for (const name of REFUEL.names) {
    out
      .name(REFUEL.module)
      .name(name)
      .u8(0)
      .u32(types + REFUEL_TYPE);
  }
}

/** Types of the injected functions, in their order. */
export function injectedFunctions({ initialised }: Pick<MeterLayout, 'initialised'>): readonly number[] {
  return [
    REFILL_TYPE,
    BULK_TYPE,
    BULK_TYPE,
    GROW_TYPE,
    ...Array.from(initialised, () => BULK_TYPE),
    WRITTEN_TYPE,
    ENTER_TYPE,
  ];
}

/** Index of the function that returns half of the bits of the blocks that were written to. */
export function writtenIndex({ functions, initialised }: MeterLayout): number {
  return functions + INIT + initialised.size;
}

/** Index of the function that sets the fuel and every mutable global, and notes that no block is written to. */
export function enterIndex(layout: MeterLayout): number {
  return writtenIndex(layout) + 1;
}

export function writeInjectedCode(out: ByteWriter, layout: MeterLayout, mutable: readonly MutableGlobal[]): void {
  out.block(refillBody(layout));
  out.block(forwards(layout, (body) => body.u8(0x20).u32(1).u8(0x20).u32(3).raw(new Uint8Array(fillCode)), false));
  out.block(copyBody(layout));
  out.block(growBody(layout));
  for (const segment of layout.initialised.keys()) {
    out.block(forwards(layout, (body) => initCode(body.u8(0x20).u32(1).u8(0x20).u32(3), segment), true));
  }
  out.block(writtenHalf(new ByteWriter(16), layout));
  const enter = new ByteWriter().u32(0).u8(0x20).u32(0).u8(0x24).u32(layout.fuel);
  clearWritten(enter, layout);
  for (const [at, { index }] of mutable.entries()) {
    enter
      .u8(0x20)
      .u32(at + 1)
      .u8(0x24)
      .u32(index);
  }
  out.block(enter.u8(0x0b));
}

/** fuel -= cost; if (fuel < 0) refill() */
export function charge(out: ByteWriter, cost: number, layout: MeterLayout): void {
  out.u8(0x23).u32(layout.fuel).u8(0x41).s32(cost).u8(0x6b).u8(0x24).u32(layout.fuel);
  refillIfEmpty(out, layout);
}

export function refillIfEmpty(out: ByteWriter, { fuel, functions }: MeterLayout): void {
  out.u8(0x23).u32(fuel).u8(0x41).s32(0).u8(0x48).u8(0x04).u8(0x40);
  out
    .u8(0x10)
    .u32(functions + REFILL)
    .u8(0x0b);
}

/** Takes the place of an instruction that works on memory by length: a function does it in pieces. */
export function bulkInPieces(out: ByteWriter, what: Bulk, { functions }: MeterLayout): void {
  out.u8(0x10).u32(functions + (what === 'memory.fill' ? FILL : COPY));
}

/** Takes the place of `memory.init`. */
export function initInPieces(out: ByteWriter, segment: number, { functions, initialised }: MeterLayout): void {
  out.u8(0x10).u32(functions + INIT + (initialised.get(segment) ?? 0));
}

/** Takes the place of `memory.grow`. */
export function growInPieces(out: ByteWriter, { functions }: MeterLayout): void {
  out.u8(0x10).u32(functions + GROW);
}

function initCode(out: ByteWriter, segment: number): ByteWriter {
  return out.u8(0xfc).u32(8).u32(segment).u8(0);
}

/** fuel -= length >>> BULK_SHIFT */
function takeByLength(out: ByteWriter, length: number, { fuel }: MeterLayout): void {
  out.u8(0x23).u32(fuel).u8(0x20).u32(length).u8(0x41).s32(BULK_SHIFT).u8(0x76).u8(0x6b).u8(0x24).u32(fuel);
}

/** fuel = refuel(); if that is 0, fuel = wait() */
function refillBody({ fuel, importedFunctions }: MeterLayout): ByteWriter {
  const body = new ByteWriter(32).u32(0);
  body.u8(0x10).u32(importedFunctions).u8(0x24).u32(fuel);
  body.u8(0x23).u32(fuel).u8(0x45).u8(0x04).u8(0x40);
  body
    .u8(0x10)
    .u32(importedFunctions + 1)
    .u8(0x24)
    .u32(fuel);
  return body.u8(0x0b).u8(0x0b);
}

// Parameters of the functions below: 0 destination, 1 source or value, 2 length. Local 3 is the length of a piece, 4 the
// number of blocks that it reaches into behind its first.

/** local 3 = min(length, PIECE), and its charge. */
function nextPiece(body: ByteWriter, layout: MeterLayout): ByteWriter {
  body.u8(0x20).u32(2).u8(0x41).s32(PIECE).u8(0x20).u32(2).u8(0x41).s32(PIECE).u8(0x49).u8(0x1b).u8(0x21).u32(3);
  takeByLength(body, 3, layout);
  refillIfEmpty(body, layout);
  return body.u8(0x20).u32(2).u8(0x20).u32(3).u8(0x6b).u8(0x21).u32(2); // length -= piece
}

/** Notes the blocks of the piece that begins at `start`; all of them for a piece without bytes at a block's start. */
function notePiece(body: ByteWriter, start: (out: ByteWriter) => ByteWriter, layout: MeterLayout): void {
  const last = (out: ByteWriter) => start(out).u8(0x20).u32(3).u8(0x6a).u8(0x41).s32(1).u8(0x6b);
  noteRange(body, start, last, 4, layout);
}

/** local += piece */
function advance(body: ByteWriter, local: number): ByteWriter {
  return body.u8(0x20).u32(local).u8(0x20).u32(3).u8(0x6a).u8(0x21).u32(local);
}

/** A loop from the first piece to the last; the destination is on the stack at the start of `piece`. */
function forwards(layout: MeterLayout, piece: (body: ByteWriter) => unknown, movesSource: boolean): ByteWriter {
  const body = new ByteWriter(192).u32(1).u32(2).u8(0x7f);
  forwardLoop(body, layout, piece, movesSource);
  return body.u8(0x0b);
}

function forwardLoop(
  body: ByteWriter,
  layout: MeterLayout,
  piece: (body: ByteWriter) => unknown,
  movesSource: boolean,
): void {
  body.u8(0x03).u8(0x40);
  nextPiece(body, layout);
  const start = (out: ByteWriter) => out.u8(0x20).u32(0);
  notePiece(body, start, layout);
  piece(start(body));
  advance(body, 0);
  if (movesSource) advance(body, 1);
  body.u8(0x20).u32(2).u8(0x0d).u32(0).u8(0x0b);
}

/** Copies from the end if the destination lies behind the source: the two may overlap. */
function copyBody(layout: MeterLayout): ByteWriter {
  const body = new ByteWriter(384).u32(1).u32(2).u8(0x7f);
  const copy = new Uint8Array(copyCode);
  body.u8(0x20).u32(0).u8(0x20).u32(1).u8(0x4d).u8(0x04).u8(0x40);
  forwardLoop(body, layout, (to) => to.u8(0x20).u32(1).u8(0x20).u32(3).raw(copy), true);
  body.u8(0x05).u8(0x03).u8(0x40);
  nextPiece(body, layout);
  // The length is now that of what lies before the piece.
  const from = (local: number) => (out: ByteWriter) => out.u8(0x20).u32(local).u8(0x20).u32(2).u8(0x6a);
  notePiece(body, from(0), layout);
  from(1)(from(0)(body)).u8(0x20).u32(3).raw(copy);
  body.u8(0x20).u32(2).u8(0x0d).u32(0).u8(0x0b);
  return body.u8(0x0b).u8(0x0b);
}

/**
 * The operating system provides each page of memory on its first write, which takes it a thousand times as long as the
 * instruction: so new memory is written to here, in pieces.
 */
function growBody(layout: MeterLayout): ByteWriter {
  const body = new ByteWriter(64).u32(1).u32(1).u8(0x7f);
  charge(body, GROW_COST, layout);
  body.u8(0x20).u32(0).u8(0x40).u8(0).u8(0x22).u32(1); // local 1 = the size before, or -1
  body.u8(0x41).s32(-1).u8(0x47).u8(0x20).u32(0).u8(0x41).s32(0).u8(0x47).u8(0x71).u8(0x04).u8(0x40);
  body.u8(0x20).u32(1).u8(0x41).s32(16).u8(0x74).u8(0x41).s32(0).u8(0x20).u32(0).u8(0x41).s32(16).u8(0x74);
  body
    .u8(0x10)
    .u32(layout.functions + FILL)
    .u8(0x0b);
  return body.u8(0x20).u32(1).u8(0x0b);
}
