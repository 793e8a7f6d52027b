/**
 * Costs of instructions, in units. They are worst cases of machines instead of averages, so that a unit is never much
 * longer than another and the time between two looks at the clock stays short, whatever code runs.
 */
import type { Instruction } from './instructions.ts';

/** A call into the host; work by length is charged by the host itself. Also of a call through a table, which may be one. */
export const HOST_CALL = 150;
export const CALL = 4;
/** `memory.grow` asks the operating system. Charged when it runs: every allocator has one, on a path that is rare. */
export const GROW_COST = 10_000;
/** Bulk memory, besides the charge by length. */
const BULK = 20;
/** A load or store may miss every cache. */
const MEMORY = 3;
/** Arithmetic on subnormal numbers takes up to a hundred cycles. */
const FLOAT = 4;
const DIVISION = 12;
/** Some vector instructions are a dozen of the machine's. */
const VECTOR = 10;

/** Costs by opcode, of those that are more than one unit. */
const costs = new Uint16Array(256).fill(1);
costs.fill(MEMORY, 0x28, 0x3f); // loads and stores
costs.fill(DIVISION, 0x6d, 0x71); // i32.div_s … i32.rem_u
costs.fill(DIVISION, 0x7f, 0x83); // i64.div_s … i64.rem_u
costs.fill(FLOAT, 0x5b, 0x67); // comparisons
costs.fill(FLOAT, 0x8b, 0xa7); // f32 and f64
costs.fill(DIVISION, 0x8d, 0x92).fill(DIVISION, 0x95, 0x96); // f32.ceil … f32.sqrt, f32.div
costs.fill(DIVISION, 0x9b, 0xa0).fill(DIVISION, 0xa3, 0xa4); // f64.ceil … f64.sqrt, f64.div
costs.fill(FLOAT, 0xa8, 0xc0); // conversions
costs[0x0b] = 0; // end
costs[0xfc] = FLOAT; // saturating conversions
costs[0xfd] = VECTOR;

/** Returns the cost without that of a called function. */
export function costOf({ kind, opcode }: Instruction): number {
  switch (kind) {
    case 'call':
    case 'tail call':
      return CALL;
    case 'indirect':
      return HOST_CALL;
    case 'memory.init':
    case 'memory.copy':
    case 'memory.fill':
      return BULK;
    default:
      return costs[opcode] ?? 1;
  }
}
