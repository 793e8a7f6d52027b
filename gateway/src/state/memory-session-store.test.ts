/** Sessions in the process (docs/mcp.md#sessions). */
import { expect, it } from 'vitest';
import { MemorySessionStore } from './memory-session-store.ts';
import { SESSION_SECONDS } from './session-store.ts';

const MS = SESSION_SECONDS * 1000;

it('ends a session half an hour after its last request', () => {
  let now = 0;
  const store = new MemorySessionStore({ now: () => now });
  store.open({ id: 'a', owner: ['x'], revision: '2025-11-25' });
  now = MS - 1;
  expect(store.use('a')).toBe('2025-11-25');
  now += MS - 1;
  expect(store.use('a')).toBe('2025-11-25');
  now += MS;
  expect(store.use('a')).toBeNull();
  expect(store.size).toBe(0);
});

it('drops what has ended when others begin', () => {
  let now = 0;
  const store = new MemorySessionStore({ now: () => now });
  for (let i = 0; i < 100; i++) store.open({ id: `${i}`, owner: ['x'], revision: 'r' });
  now = MS;
  store.open({ id: 'new', owner: ['x'], revision: 'r' });
  expect(store.size).toBe(1);
});

it('keeps so many, and ends those of who has most: one client does not end the sessions of another', () => {
  const store = new MemorySessionStore({ maxSessions: 100 });
  store.open({ id: 'mine', owner: ['me'], revision: 'r' });
  for (let i = 0; i < 10_000; i++) store.open({ id: `${i}`, owner: ['flood'], revision: 'r' });
  expect(store.size).toBe(100);
  expect([store.use('mine'), store.use('0'), store.use('9999')]).toEqual(['r', null, 'r']);
});
