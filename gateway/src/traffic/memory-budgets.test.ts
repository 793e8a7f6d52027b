import { describe, expect, it } from 'vitest';
import { SERVE_OPTIONS } from '../options/options.ts';
import { memoryBudgets } from './memory-budgets.ts';

const MIB = 1 << 20;
const defaults = {
  maxBufferedBytes: SERVE_OPTIONS.maxBufferedBytes.default,
  maxHeldResponseBytes: SERVE_OPTIONS.maxHeldResponseBytes.default,
  maxHeldHeaderBytes: SERVE_OPTIONS.maxHeldHeaderBytes.default,
};
/** As docs/production.md has it: the process, and three validation helpers at their limit. */
const ITSELF = 100 * MIB;
const HELPERS = 3 * (128 + 32) * MIB;

describe('budgets of memory', () => {
  it('fit into the memory that a pod has by default', () => {
    const { bodies, responses, headers, plugins } = memoryBudgets(defaults, 1024 * MIB);
    expect(ITSELF + HELPERS + bodies + responses + plugins + 3 * headers).toBeLessThanOrEqual(1024 * MIB);
  });

  it('are the defaults where there is enough, and what an option names in any case', () => {
    const much = { bodies: 256 * MIB, responses: 256 * MIB, headers: 64 * MIB, plugins: 256 * MIB };
    expect(memoryBudgets(defaults, 64 * 1024 * MIB)).toEqual(much);
    const named = memoryBudgets({ ...defaults, maxBufferedBytes: 300 * MIB }, 1024 * MIB);
    expect(named.bodies).toBe(300 * MIB);
  });
});
