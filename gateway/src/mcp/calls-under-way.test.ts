/** Which calls `notifications/cancelled` ends (docs/mcp.md#calls). */
import { beforeEach, expect, it } from 'vitest';
import { CallsUnderWay } from './session-protocol.ts';

let calls: CallsUnderWay;
let cancelled: string[];
const begin = (session: string, id: string | number, name: string) =>
  calls.add(session, id, () => void cancelled.push(name));
beforeEach(() => {
  calls = new CallsUnderWay();
  cancelled = [];
});

it('those with the id, of the session: 1 is not "1"', () => {
  begin('a', 1, 'meant');
  begin('a', '1', 'text');
  begin('b', 1, 'other session');
  calls.cancel('a', 1);
  expect(cancelled).toEqual(['meant']);
  for (const id of [null, undefined, {}, ['1'], true]) calls.cancel('a', id);
  expect(cancelled).toEqual(['meant']);
});

it('all to which a client has given one id, and one that is left when the other has ended', () => {
  const ended = begin('a', 1, 'first');
  begin('a', 1, 'second');
  calls.cancel('a', 1);
  expect(cancelled).toEqual(['first', 'second']);
  ended();
  calls.cancel('a', 1);
  expect(cancelled).toEqual(['first', 'second', 'second']);
});

it('none that has ended, also where another has its id since', () => {
  const ended = begin('a', 1, 'first');
  ended();
  begin('a', 1, 'second');
  ended();
  calls.cancel('a', 1);
  expect(cancelled).toEqual(['second']);
});
