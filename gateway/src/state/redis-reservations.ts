/** Reservations on a server, as `ReservationStore` has them: each a hash with the time that is left to it. */

import { NOW, SHARES } from './redis-shares.ts';
import type { Reservation } from './reservation-store.ts';
import { StateUnavailable } from './state.ts';

/**
 * Common beginning of the scripts that store something. ARGV: the prefix of keys, the owner, the key without the
 * prefix.
 */
const BEGIN = `
local p, owner, id = ARGV[1], ARGV[2], ARGV[3]
${NOW}
local function drop(each)
  local left = redis.call('PTTL', p .. 'is:' .. each)
  redis.call('DEL', p .. 'is:' .. each)
  if left > 0 then
    redis.call('HSET', p .. 'is:' .. each, 'mark', '', 'gone', 1)
    redis.call('PEXPIRE', p .. 'is:' .. each, left)
  end
end
${SHARES}
`;

/** ARGV: also token, mark, milliseconds, and the most reservations. Answers with a list: a state, and its values. */
export const RESERVE_SCRIPT = `${BEGIN}
local known = redis.call('HMGET', KEYS[1], 'mark', 'value', 'gone')
if known[3] then return {'forgotten'} end
if known[1] then
  if known[2] then return {'recorded', known[1], known[2]} end
  return {'held', known[1], tostring(redis.call('PTTL', KEYS[1]))}
end
if not admit(owner, id, 1, now + tonumber(ARGV[6]), tonumber(ARGV[7]), false) then return {'full'} end
redis.call('HSET', KEYS[1], 'token', ARGV[4], 'mark', ARGV[5], 'owner', owner)
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return {'reserved'}
`;

/** ARGV: also token, value, milliseconds. */
export const RECORD_SCRIPT = `${BEGIN}
local known = redis.call('HMGET', KEYS[1], 'token', 'owner')
if known[1] ~= ARGV[4] then return 0 end
redis.call('HSET', KEYS[1], 'value', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
touch(known[2] or '', id, now + tonumber(ARGV[6]))
return 1
`;

/** ARGV: also the token. */
export const RELEASE_SCRIPT = `${BEGIN}
local known = redis.call('HMGET', KEYS[1], 'token', 'value', 'owner')
if known[1] == ARGV[4] and not known[2] then
  redis.call('DEL', KEYS[1])
  release(known[3] or '', id)
end
return 1
`;

export type ReserveReply = readonly [state: string, mark?: string, rest?: string];

export function reservationOf([state, mark = '', rest = '']: ReserveReply): Reservation {
  if (state === 'reserved' || state === 'full' || state === 'forgotten') return { state };
  if (state === 'held') return { state, mark, secondsLeft: Math.max(0, Number(rest) / 1000) };
  if (state === 'recorded') return { state, mark, value: rest };
  throw new StateUnavailable('the answer of the state server is not a reservation');
}
