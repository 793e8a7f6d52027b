import { describe, expect, it } from 'vitest';
import { BufferBudget, type Holding } from './buffer-budget.ts';

describe('a budget of bytes', () => {
  const ended: string[] = [];

  function hold(budget: BufferBudget, address: string, bytes: number, name?: string, rate = 1): Holding {
    const holding = budget.hold(address);
    if (name !== undefined) holding.evictable = { rate: () => rate, evict: () => ended.push(name) };
    expect(holding.take(bytes)).toBe(true);
    return holding;
  }
  const endedBy = (run: () => void) => {
    ended.length = 0;
    run();
    return [...ended];
  };

  it('is anyone’s while there is room, and given back once', () => {
    const budget = new BufferBudget(100);
    const holding = hold(budget, '192.0.2.1', 100);
    expect(budget.hold('192.0.2.2').take(1)).toBe(false);
    holding.release();
    holding.release();
    expect(budget.used).toBe(0);
    expect(holding.take(1)).toBe(false);
    hold(budget, '192.0.2.2', 100);
  });

  it('is taken from the slowest of the address that holds most, and not from who comes new', () => {
    const budget = new BufferBudget(100);
    hold(budget, '192.0.2.1', 20, 'a, slow', 1);
    hold(budget, '192.0.2.1', 40, 'a, slower', 0.5);
    hold(budget, '192.0.2.2', 40, 'b, slowest', 0.1);
    expect(endedBy(() => hold(budget, '192.0.2.3', 10))).toEqual(['a, slower']);
    expect(budget.used).toBe(70);
    expect(endedBy(() => hold(budget, '192.0.2.4', 35))).toEqual(['b, slowest']);
  });

  it('counts clients of IPv6 by their network', () => {
    const budget = new BufferBudget(100);
    for (let i = 0; i < 10; i++) hold(budget, `2001:db8::${i}`, 6, `net ${i}`, 10 - i);
    hold(budget, '192.0.2.1', 40, 'other', 0);
    expect(endedBy(() => hold(budget, '2001:db8:1::1', 10))).toEqual(['net 9', 'net 8']);
  });

  it('counts networks of one IPv6 site together before it counts them apart', () => {
    const budget = new BufferBudget(100);
    for (let i = 1; i <= 12; i++) hold(budget, `2001:db8:1:${i}::1`, 5, `net ${i}`, i);
    hold(budget, '192.0.2.1', 40, 'other', 0);
    expect(endedBy(() => hold(budget, '192.0.2.2', 10))).toEqual(['net 12', 'net 11']);
    expect(endedBy(() => hold(budget, '2001:db8:1:20::1', 5))).toEqual(['net 10']);
  });

  it('is not taken from who holds less, nor where what is held is not the client’s delay', () => {
    const budget = new BufferBudget(100);
    hold(budget, '192.0.2.1', 10, 'small', 0);
    hold(budget, '192.0.2.2', 90);
    expect(endedBy(() => expect(budget.hold('192.0.2.3').take(20)).toBe(false))).toEqual([]);
    expect(endedBy(() => hold(budget, '192.0.2.3', 5))).toEqual(['small']);
  });

  it('is taken from its own address by who holds most', () => {
    const budget = new BufferBudget(100);
    hold(budget, '192.0.2.1', 30, 'own', 1);
    hold(budget, '192.0.2.2', 10, 'other', 0);
    const growing = hold(budget, '192.0.2.1', 60, 'growing', 0);
    expect(endedBy(() => expect(growing.take(20)).toBe(true))).toEqual(['own']);
    // It is alone now, and there is nobody who holds as much.
    expect(endedBy(() => expect(growing.take(20)).toBe(false))).toEqual([]);
  });

  it('ends as many as it takes', () => {
    const budget = new BufferBudget(100);
    for (let i = 0; i < 10; i++) hold(budget, '192.0.2.1', 10, String(i), i);
    expect(endedBy(() => hold(budget, '192.0.2.2', 35))).toEqual(['0', '1', '2', '3']);
    expect(budget.used).toBe(95);
  });
});
