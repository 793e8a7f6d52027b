import { expect, it } from 'vitest';
import { CircuitBreaker } from './breaker.ts';

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
