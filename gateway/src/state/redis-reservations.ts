/** Reservations on a server, as `ReservationStore` has them: each a hash with the time that is left to it. */

import type { Reservation } from './reservation-store.ts';
import { StateUnavailable } from './state.ts';

/** ARGV: token, mark, milliseconds. Answers with a list: a state, and what belongs to it. */
export const RESERVE_SCRIPT = `
local known = redis.call('HMGET', KEYS[1], 'mark', 'value')
if known[1] then
  if known[2] then return {'recorded', known[1], known[2]} end
  return {'held', known[1], tostring(redis.call('PTTL', KEYS[1]))}
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'mark', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {'reserved'}
`;

/** ARGV: token, value, milliseconds. */
export const RECORD_SCRIPT = `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'value', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`;

/** ARGV: token. */
export const RELEASE_SCRIPT = `
local known = redis.call('HMGET', KEYS[1], 'token', 'value')
if known[1] == ARGV[1] and not known[2] then redis.call('DEL', KEYS[1]) end
return 1
`;

export type ReserveReply = readonly [state: string, mark?: string, rest?: string];

export function reservationOf([state, mark = '', rest = '']: ReserveReply): Reservation {
  if (state === 'reserved') return { state };
  if (state === 'held') return { state, mark, secondsLeft: Math.max(0, Number(rest) / 1000) };
  if (state === 'recorded') return { state, mark, value: rest };
  throw new StateUnavailable('the state server answers with what is no reservation');
}
