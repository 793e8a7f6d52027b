import { describe, expect, it } from 'vitest';
import { InFlight, type Share } from './in-flight.ts';

function fill(share: Share, owner: readonly string[] = []): number {
  const before = share.messages;
  while (share.take(0, owner) !== null);
  return share.messages - before;
}

describe('InFlight', () => {
  it('leaves room for a broker that works, however many hang', () => {
    const all = new InFlight({ messages: 1_000, bytes: 1 << 30 });
    expect(fill(all.share())).toBe(500);
    expect(fill(all.share())).toBe(250);
    for (let hung = 0; hung < 5; hung++) fill(all.share());
    expect(all.share().take(0)).not.toBeNull();
  });

  it('leaves room for other clients of a broker, however much one sends', () => {
    const all = new InFlight({ messages: 900, bytes: 1 << 30 });
    const share = all.share();
    expect(fill(share, ['busy'])).toBe(300);
    expect(fill(share, ['second'])).toBe(100);
    for (let i = 0; i < 2; i++) fill(share, [`client ${i}`]);
    expect(share.take(0, ['quiet'])).not.toBeNull();
    expect(share.take(0, ['busy'])).toBeNull();
  });

  it('bounds bytes, and gives them back', () => {
    const all = new InFlight({ messages: 1_000, bytes: 100_000 });
    const share = all.share();
    const giveBack = share.take(90_000);
    expect(giveBack).not.toBeNull();
    expect(share.take(20_000)).toBeNull();
    giveBack?.();
    expect([all.messages, all.bytes, share.messages, share.bytes]).toEqual([0, 0, 0, 0]);
    expect(share.take(20_000)).not.toBeNull();
  });
});
