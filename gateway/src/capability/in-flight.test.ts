import { describe, expect, it } from 'vitest';
import { InFlight, type Share } from './in-flight.ts';

function fill(share: Share): number {
  while (share.take(0) !== null);
  return share.messages;
}

describe('InFlight', () => {
  it('leaves room for a broker that works, however many hang', () => {
    const all = new InFlight({ messages: 1_000, bytes: 1 << 30 });
    expect(fill(all.share())).toBe(500);
    expect(fill(all.share())).toBe(250);
    for (let hung = 0; hung < 5; hung++) fill(all.share());
    expect(all.share().take(0)).not.toBeNull();
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
