/** Cached values on a server, each behind its owner and a zero byte: the oldest of the owner with most goes first. */
import { NOW, SHARES } from './redis-shares.ts';

/** Cost of an entry besides its key and value, including its shares, in bytes. */
export const CACHED_ENTRY_BYTES = 512;

/** Common beginning of both scripts. ARGV: the prefix of keys, the key without it. */
const BEGIN = `
local p, id = ARGV[1], ARGV[2]
${NOW}
local function drop(each) redis.call('DEL', p .. 'is:' .. each) end
${SHARES}
local before = string.match(redis.call('GETRANGE', p .. 'is:' .. id, 0, 255), '^(%Z*)%z')
if before then
  release(before, id)
  drop(id)
end
`;

/** ARGV: also the owner, the value, milliseconds for which it lasts, its weight, and the most of all weights. */
export const SET_CACHED_SCRIPT = `${BEGIN}
local owner, lasts = ARGV[3], tonumber(ARGV[5])
if not admit(owner, id, tonumber(ARGV[6]), now + lasts, tonumber(ARGV[7]), true) then return 0 end
redis.call('SET', p .. 'is:' .. id, ARGV[4], 'PX', lasts)
return 1
`;

export const DELETE_CACHED_SCRIPT = `${BEGIN}
return 1
`;

/** The value with its owner in front. */
export function ownedValue(owner: string, value: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${owner}\0`, 'utf8'), value]);
}

export function withoutOwner(owned: Buffer | null): Buffer | null {
  return owned === null ? null : owned.subarray(owned.indexOf(0) + 1);
}
