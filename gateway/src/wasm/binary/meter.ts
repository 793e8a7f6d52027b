/**
 * Metering a function's code. Fuel is taken at the function's entry for everything outside loops and at each loop's
 * header for everything inside it (a bound, whichever branches are taken); where it has run out, the injected import
 * is called, which waits for the event loop to turn or stops the call. Bulk memory is charged by its length.
 */
import { type ByteReader, ByteWriter } from './bytes.ts';
import { type Instruction, readInstruction } from './instructions.ts';
import { limit } from './limits.ts';

/** Where the injected parts stand in the rewritten module. */
export interface MeterLayout {
  /** Imported functions of the original; every index from here on moves up by one. */
  readonly importedFunctions: number;
  /** Index of the fuel global. */
  readonly fuel: number;
}

/** Cost of a call into the host, in units of one instruction; work by length is charged by the host itself. */
const HOST_CALL = 150;
const CALL = 4;
const GROW = 2_000;
/** 2^3 bytes of bulk memory cost one unit. */
const BULK_SHIFT = 3;
const MOST = 1 << 28;

interface Insertion {
  readonly at: number;
  readonly kind: 'entry' | 'loop' | 'bulk' | 'index';
  /** Fuel (`entry`, `loop`), or the new function index. */
  value: number;
  /** Where the original goes on. */
  readonly resume: number;
}

/** Writes a metered copy of one function's body (as it stands in the code section, without its size). */
export function meterFunction(body: ByteReader, params: number, layout: MeterLayout): ByteWriter {
  const groups = body.u32();
  const groupsStart = body.at;
  let locals = 0;
  for (let i = 0; i < groups; i++) {
    locals += body.u32();
    limit('locals', locals);
    body.u8();
  }
  const codeStart = body.at;
  const scan = scanCode(body, layout, locals);

  const out = new ByteWriter(body.end - groupsStart + 64 * scan.insertions.length + 16);
  out.u32(groups + (scan.bulk ? 1 : 0)).raw(body.bytes.subarray(groupsStart, codeStart));
  if (scan.bulk) out.u32(1).u8(0x7f);
  const scratch = params + locals;

  let copied = codeStart;
  for (const { at, kind, value, resume } of scan.insertions) {
    out.raw(body.bytes.subarray(copied, at));
    copied = resume;
    if (kind === 'index') out.u32(value);
    else if (kind === 'bulk') chargeLength(out, scratch, layout);
    else charge(out, value, layout, kind === 'loop' || scan.calls);
  }
  return out.raw(body.bytes.subarray(copied, body.end));
}

interface Scan {
  readonly insertions: readonly Insertion[];
  readonly bulk: boolean;
  /** Whether it calls, or loops: if not, checking its fuel can be left to its callers. */
  readonly calls: boolean;
}

function scanCode(code: ByteReader, layout: MeterLayout, locals: number): Scan {
  const entry: Insertion = { at: code.at, kind: 'entry', value: 1 + (locals >> 3), resume: code.at };
  const insertions: Insertion[] = [entry];
  // One entry a nesting level: the region (function or loop) whose cost grows there.
  const regions: Insertion[] = [entry];
  const instruction: Instruction = { kind: 'plain', opcode: 0, index: 0 };
  let bulk = false;
  let calls = false;
  while (!code.done) {
    const start = code.at;
    readInstruction(code, instruction);
    const region = regions[regions.length - 1] ?? entry;
    let cost = 1;
    switch (instruction.kind) {
      case 'open':
        regions.push(region);
        break;
      case 'loop': {
        const loop: Insertion = { at: code.at, kind: 'loop', value: 1, resume: code.at };
        insertions.push(loop);
        regions.push(loop);
        break;
      }
      case 'end':
        regions.pop();
        break;
      case 'call':
      case 'ref.func': {
        const imported = instruction.index < layout.importedFunctions;
        if (instruction.kind === 'call') {
          cost = imported ? HOST_CALL : CALL;
          calls = true;
        }
        if (!imported) {
          const value = instruction.index + 1;
          insertions.push({ at: start + 1, kind: 'index', value, resume: code.at });
        }
        break;
      }
      case 'indirect':
        // It may reach an imported function through the table.
        cost = HOST_CALL;
        calls = true;
        break;
      case 'bulk':
        bulk = true;
        calls = true;
        insertions.push({ at: start, kind: 'bulk', value: 0, resume: start });
        break;
      case 'grow':
        cost = GROW;
        break;
    }
    region.value = Math.min(region.value + cost, MOST);
  }
  return { insertions, bulk, calls };
}

/** fuel -= cost; if (fuel < 0) fuel = refuel(fuel) */
function charge(out: ByteWriter, cost: number, layout: MeterLayout, check: boolean): void {
  out.u8(0x23).u32(layout.fuel).u8(0x41).s32(cost).u8(0x6b).u8(0x24).u32(layout.fuel);
  if (check) refuelIfEmpty(out, layout);
}

/** Charges by the length on top of the stack, and leaves it there. */
function chargeLength(out: ByteWriter, scratch: number, layout: MeterLayout): void {
  out.u8(0x22).u32(scratch);
  out.u8(0x23).u32(layout.fuel);
  out.u8(0x20).u32(scratch).u8(0x41).s32(BULK_SHIFT).u8(0x76).u8(0x6b);
  out.u8(0x24).u32(layout.fuel);
  refuelIfEmpty(out, layout);
}

function refuelIfEmpty(out: ByteWriter, { fuel, importedFunctions }: MeterLayout): void {
  out.u8(0x23).u32(fuel).u8(0x41).s32(0).u8(0x48).u8(0x04).u8(0x40);
  out.u8(0x23).u32(fuel).u8(0x10).u32(importedFunctions).u8(0x24).u32(fuel);
  out.u8(0x0b);
}
