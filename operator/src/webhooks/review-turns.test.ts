import { describe, expect, it } from 'vitest';
import { ReviewTurns } from './review-turns.ts';

const SOON = () => Date.now() + 60_000;

describe('turns of reviews', () => {
  it('one namespace that asks for hundreds holds up no other', async () => {
    const turns = new ReviewTurns({ maxRunning: 4, maxRunningOfNamespace: 2 });
    const greedy = Array.from({ length: 300 }, () => turns.take('greedy', SOON()));
    const held = await Promise.all(greedy.slice(0, 2));
    // Two are left for the others, at once.
    const a = await turns.take('a', SOON());
    const b = await turns.take('b', SOON());
    expect([a, b].every((turn) => turn !== undefined)).toBe(true);
    // What would only fill memory is told so.
    const refused = await Promise.all(greedy.slice(34));
    expect(refused.every((turn) => turn === undefined)).toBe(true);
    // All places are taken: who comes next waits, and comes before the greedy one, who came first.
    const order: string[] = [];
    const waiting = turns.take('c', SOON()).then((turn) => {
      order.push('c');
      return turn;
    });
    void greedy[2]?.then(() => order.push('greedy'));
    a?.();
    const c = await waiting;
    expect(order).toEqual(['c']);
    held[0]?.();
    await greedy[2];
    expect(order).toEqual(['c', 'greedy']);
    b?.();
    c?.();
  });

  it('every turn is given back, whoever waited in vain', async () => {
    const turns = new ReviewTurns({ maxRunning: 2, maxRunningOfNamespace: 1 });
    const first = await turns.take('a', SOON());
    expect(await turns.take('a', Date.now())).toBeUndefined();
    first?.();
    for (let n = 0; n < 5; n++) (await turns.take('a', SOON()))?.();
    const [one, two] = [await turns.take('a', SOON()), await turns.take('b', SOON())];
    expect([one, two].every((turn) => turn !== undefined)).toBe(true);
  });
});
