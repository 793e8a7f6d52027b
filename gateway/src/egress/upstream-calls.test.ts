import { describe, expect, it } from 'vitest';
import { NO_SLOT } from '../memory/slots.ts';
import { type UpstreamCall, UpstreamCalls } from './upstream-calls.ts';

class Call implements UpstreamCall {
  slot = NO_SLOT;
  readonly clientIp: string;
  givenUp = false;

  constructor(clientIp: string) {
    this.clientIp = clientIp;
  }

  giveUp(): void {
    this.givenUp = true;
  }
}

const calls = (count: number, clientIp: string) => Array.from({ length: count }, () => new Call(clientIp));

describe('calls to upstreams', () => {
  it('take a place of the client that has most, its oldest one first, and never of one below its share', () => {
    const yields: string[] = [];
    const places = new UpstreamCalls(100, (outcome, clientIp) => yields.push(`${outcome} ${clientIp}`));
    const others = calls(10, '192.0.2.2');
    const greedy = calls(300, '192.0.2.1');
    expect(others.map((each) => places.begin(each))).not.toContain(false);
    expect(greedy.filter((each) => places.begin(each))).toHaveLength(90);
    expect(new Set(yields)).toEqual(new Set(['refused 192.0.2.1']));
    const newcomers = calls(30, '2001:db8:1:2::3');
    expect(newcomers.map((each) => places.begin(each))).not.toContain(false);
    expect(greedy.map((each) => each.givenUp)).toEqual(greedy.map((_, at) => at < 30));
    expect(others.some((each) => each.givenUp)).toBe(false);
    expect(places.size).toBe(100);
  });

  it('are counted once, whoever ends them', () => {
    const places = new UpstreamCalls(4, () => {});
    const [one, two, ...rest] = calls(4, '192.0.2.1');
    for (const each of [one, two, ...rest]) expect(each && places.begin(each)).toBe(true);
    const other = new Call('192.0.2.2');
    expect(places.begin(other)).toBe(true);
    // It was given up for the other, and ends now.
    if (one) places.end(one);
    expect(places.size).toBe(4);
    for (const each of [two, ...rest, other]) if (each) places.end(each);
    expect(places.size).toBe(0);
    expect(places.begin(new Call('192.0.2.1'))).toBe(true);
  });

  it('know who has how many, however often they come and go around the number from which that is kept', () => {
    const places = new UpstreamCalls(40, () => {});
    const open: Call[] = [];
    for (let round = 0; round < 200; round++) {
      const wanted = [5, 25, 12, 39, 0][round % 5] ?? 0;
      while (open.length < wanted) {
        const next = new Call(`192.0.2.${open.length % 3}`);
        open.push(next);
        expect(places.begin(next)).toBe(true);
      }
      for (const each of open.splice(wanted)) places.end(each);
      expect(places.size).toBe(wanted);
    }
  });
});
