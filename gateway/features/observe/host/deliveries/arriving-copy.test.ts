import { describe, expect, it, vi } from 'vitest';
import { ArrivingCopy } from './arriving-copy.ts';
import { Room } from './room.ts';

function copying(most: number, memory = 1 << 30) {
  let used = 0;
  const room = new Room((bytes) => {
    if (used + bytes > memory) return null;
    used += bytes;
    return () => {
      used -= bytes;
    };
  });
  const end = { copied: vi.fn((body: Uint8Array) => String(Buffer.from(body))), tooLong: vi.fn(), noRoom: vi.fn() };
  return { copy: new ArrivingCopy(room, most, end), room, end, used: () => used };
}

describe('a copy of a body', () => {
  it('has what came, in the room of what came', () => {
    const { copy, end, used } = copying(1 << 20);
    const text = 'abc'.repeat(10_000);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 7) copy.chunk(bytes.subarray(at, at + 7));
    expect(used()).toBeLessThan(2 * bytes.length);
    copy.whole();
    expect(end.copied.mock.results[0]?.value).toBe(text);
    expect(copy.giveUp()).toBe(false);
  });

  it('does not change with memory that is used again', () => {
    const { copy, end } = copying(100);
    const chunk = Buffer.from('first');
    copy.chunk(chunk);
    chunk.write('other');
    copy.whole();
    expect(end.copied.mock.results[0]?.value).toBe('first');
  });

  it('may be as long as the limit, and no longer', () => {
    const exact = copying(10);
    exact.copy.chunk(Buffer.alloc(10));
    expect(exact.used()).toBe(10);
    exact.copy.whole();
    expect(exact.end.copied).toHaveBeenCalledTimes(1);
    const longer = copying(10);
    longer.copy.chunk(Buffer.alloc(10));
    longer.copy.chunk(Buffer.alloc(1));
    longer.copy.chunk(Buffer.alloc(1));
    longer.copy.whole();
    const { tooLong, copied, noRoom } = longer.end;
    expect([tooLong, copied, noRoom].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
  });

  it('ends where there is no room', () => {
    const { copy, end, room, used } = copying(1 << 20, 20_000);
    for (let i = 0; i < 30; i++) copy.chunk(Buffer.alloc(1_000));
    copy.whole();
    expect([end.noRoom, end.copied, end.tooLong].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
    room.release();
    expect(used()).toBe(0);
  });

  it('is given up once, whatever comes then', () => {
    const { copy, end } = copying(100);
    copy.chunk(Buffer.alloc(10));
    expect([copy.giveUp(), copy.giveUp()]).toEqual([true, false]);
    copy.chunk(Buffer.alloc(10));
    copy.whole();
    expect(end.copied).not.toHaveBeenCalled();
  });
});
