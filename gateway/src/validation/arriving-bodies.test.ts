/** Bodies on their way into memory, with a clock that the test moves. */
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { BodyStream } from '../exchange.ts';
import { type ArrivalLimits, ArrivingBodies, BodyRefused } from './arriving-bodies.ts';

class Body extends Readable implements BodyStream {
  received = 0;
  limit = Number.POSITIVE_INFINITY;
  waitsForClient = true;
  refusal: string | null = null;
  isRead = false;
  takeWhole(): null {
    return null;
  }
  limitTo(): void {}
  copyTo(): void {}
  receive(bytes: number): void {
    this.received += bytes;
  }
  override _read(): void {}
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.refusal = error instanceof BodyRefused ? (error.problem.detail ?? '') : null;
    done(null);
  }
}

/** Sweeps each second for so long, before which `each` happens. Seconds until the body was refused. */
function run(limits: Partial<ArrivalLimits>, seconds: number, each: (body: Body, second: number) => void) {
  const bodies = new ArrivingBodies({ minBodyRate: 1024, bodyDeadlineMs: 300_000, ...limits });
  const body = new Body();
  bodies.add(body, 0);
  for (let second = 1; second <= seconds; second++) {
    each(body, second);
    bodies.sweep(second * 1000);
    if (body.refusal !== null) return { second, refusal: body.refusal };
  }
  return null;
}

describe('a body that is read into memory', () => {
  it.each([
    ['a byte now and then', (body: Body, second: number) => body.receive(second % 20 === 0 ? 1 : 0)],
    ['nothing', () => {}],
    ['almost enough', (body: Body) => body.receive(1023)],
    ['all but the last 10 KiB at once', (body: Body, second: number) => body.receive(second === 1 ? 9000 : 0)],
  ])('ends after ten seconds of %s', (_, each) => {
    const ended = run({}, 60, each);
    expect(ended).toEqual({ second: 10, refusal: 'The request body arrived more slowly than 1024 bytes a second.' });
  });

  it('goes on at the least rate, in spurts too, until the deadline', () => {
    const refusal = 'The request body did not arrive within 300 seconds.';
    expect(run({}, 400, (body) => body.receive(1024))).toEqual({ second: 300, refusal });
    const spurts = (body: Body, second: number) => body.receive(second % 9 === 1 ? 10_240 : 0);
    expect(run({}, 400, spurts)).toEqual({ second: 300, refusal });
    expect(run({ bodyDeadlineMs: 0 }, 4000, spurts)).toBeNull();
  });

  it('ends when it becomes slow later', () => {
    const ended = run({}, 100, (body, second) => body.receive(second <= 50 ? 1_000_000 : 0));
    expect(ended?.second).toBe(60);
  });

  it('is not slow while the gateway reads nothing', () => {
    const paused = (body: Body, second: number) => {
      body.waitsForClient = second > 100;
    };
    expect(run({}, 200, paused)?.second).toBe(110);
    expect(run({ minBodyRate: 0 }, 290, () => {})).toBeNull();
  });

  it('is left alone when it has come', () => {
    const bodies = new ArrivingBodies({ minBodyRate: 1024, bodyDeadlineMs: 1000 });
    const body = new Body();
    const arriving = bodies.add(body, 0);
    bodies.delete(arriving);
    for (let second = 1; second < 20; second++) bodies.sweep(second * 1000);
    expect(body.refusal).toBeNull();
  });

  it('has the rate of its last ten seconds', () => {
    const bodies = new ArrivingBodies({ minBodyRate: 0, bodyDeadlineMs: 0 });
    const [once, steady] = [new Body(), new Body()];
    const [first, second] = [bodies.add(once, 0), bodies.add(steady, 0)];
    once.received = 1_000_000;
    expect(first.rate(10)).toBeGreaterThan(second.rate(10));
    for (let at = 1; at <= 20; at++) {
      steady.received += 1000;
      bodies.sweep(at * 1000);
    }
    expect(first.rate(20_500)).toBe(0);
    expect(second.rate(20_000)).toBeCloseTo(1, 2);
  });
});
