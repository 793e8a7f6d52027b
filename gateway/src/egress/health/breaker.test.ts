import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from './breaker.ts';

describe('the circuit of an upstream', () => {
  let now = 0;
  const cool = { failures: 5, cooldownMs: 1_000 };
  const failing = (breaker: CircuitBreaker, client: string, times: number) => {
    for (let i = 0; i < times; i++) {
      expect(breaker.admits(client)).toBe(true);
      breaker.failed(client);
    }
  };

  it('is open for one client whose requests fail, and not for others', () => {
    const breaker = new CircuitBreaker(cool, () => now);
    failing(breaker, '192.0.2.9', 5);
    expect([breaker.admits('192.0.2.9'), breaker.retryAfter('192.0.2.9')]).toEqual([false, 1]);
    expect([breaker.admits('192.0.2.1'), breaker.refuses]).toEqual([true, false]);
    breaker.succeeded();
    expect(breaker.admits('192.0.2.9')).toBe(true);
  });

  it('is open for all where the requests of several fail', () => {
    const breaker = new CircuitBreaker(cool, () => now);
    failing(breaker, '192.0.2.9', 4);
    failing(breaker, '192.0.2.1', 2);
    expect(breaker.refuses).toBe(false);
    failing(breaker, '192.0.2.2', 1);
    expect([breaker.refuses, breaker.admits('192.0.2.3')]).toEqual([true, false]);
    now += 1_000;
    expect([breaker.admits('192.0.2.3'), breaker.admits('192.0.2.4')]).toEqual([true, false]);
    breaker.abandoned('192.0.2.3');
    expect(breaker.admits('192.0.2.4')).toBe(true);
  });

  it('tells no more than a hundred clients apart', () => {
    const breaker = new CircuitBreaker({ failures: 1_000, cooldownMs: 1 }, () => now);
    for (let i = 0; i < 500; i++) failing(breaker, `198.51.${i >> 8}.${i & 255}`, 1);
    expect(breaker.refuses).toBe(false);
  });
});

it('opens after failures in a row, probes once after the cool-down, closes on success', () => {
  let now = 0;
  const breaker = new CircuitBreaker({ failures: 3, cooldownMs: 1000 }, () => now);
  const fail = () => {
    expect(breaker.admits()).toBe(true);
    breaker.failed();
  };
  fail();
  fail();
  breaker.succeeded();
  fail();
  fail();
  fail();
  expect(breaker.admits()).toBe(false);
  expect(breaker.retryAfter()).toBe(1);
  now = 1000;
  expect(breaker.admits()).toBe(true);
  expect(breaker.admits()).toBe(false);
  breaker.failed();
  expect(breaker.admits()).toBe(false);
  now = 2000;
  expect(breaker.admits()).toBe(true);
  breaker.abandoned();
  expect(breaker.admits()).toBe(true);
  breaker.succeeded();
  expect(breaker.admits()).toBe(true);
  expect(breaker.admits()).toBe(true);
});
