/**
 * Shares by owner on a server, as `SharedMap` has them in a process (docs/decisions.md#shared-limits): the first part of
 * scripts that keep something. An owner is one level here: a policy with a client's site, or a consumer.
 *
 * Scripts define before: `p`, prefix of the kind's keys; `now`, milliseconds; and `drop(id)`, which deletes an entry, or
 * leaves one that refuses it. Kept by kind: `owners`, a sorted set of owners by the weight that they hold; `of:OWNER`,
 * their entries by the time at which they end; `due`, owners by the end of their last entry; `weights` other than 1;
 * `total`.
 */
import { hash } from 'node:crypto';
import type { OwnerPath } from '../shares/owner-path.ts';

export const SHARES = `
local function count(owner, by)
  if tonumber(redis.call('ZINCRBY', p .. 'owners', by, owner)) <= 0 then
    redis.call('ZREM', p .. 'owners', owner)
    redis.call('ZREM', p .. 'due', owner)
  end
  redis.call('INCRBY', p .. 'total', by)
end

local function release(owner, id)
  if redis.call('ZREM', p .. 'of:' .. owner, id) == 0 then return end
  local weight = redis.call('HGET', p .. 'weights', id)
  if weight then redis.call('HDEL', p .. 'weights', id) end
  count(owner, -tonumber(weight or 1))
end

local function sweep(owner)
  local over = redis.call('ZRANGEBYSCORE', p .. 'of:' .. owner, '-inf', now, 'LIMIT', 0, 100)
  for _, each in ipairs(over) do release(owner, each) end
  return #over
end

local function sweepDue()
  for _, each in ipairs(redis.call('ZRANGEBYSCORE', p .. 'due', '-inf', now, 'LIMIT', 0, 2)) do
    if sweep(each) == 0 then
      local last = redis.call('ZRANGE', p .. 'of:' .. each, -1, -1, 'WITHSCORES')
      if last[2] then redis.call('ZADD', p .. 'due', last[2], each) else redis.call('ZREM', p .. 'due', each) end
    end
  end
end

local function keep(owner, id, ends)
  redis.call('ZADD', p .. 'of:' .. owner, ends, id)
  redis.call('ZADD', p .. 'due', ends, owner)
end

local function touch(owner, id, ends)
  redis.call('ZADD', p .. 'of:' .. owner, 'XX', ends, id)
  redis.call('ZADD', p .. 'due', 'XX', ends, owner)
end

local function makeRoom(owner, weight, most, yieldsOwn)
  for _ = 1, 200 do
    if tonumber(redis.call('GET', p .. 'total') or 0) + weight <= most then return true end
    local heaviest = redis.call('ZREVRANGE', p .. 'owners', 0, 0, 'WITHSCORES')
    if not heaviest[1] then return false end
    local yields, held = heaviest[1], tonumber(heaviest[2])
    if sweep(yields) == 0 then
      local mine = tonumber(redis.call('ZSCORE', p .. 'owners', owner) or 0)
      if held <= mine + weight and not (mine == 0 and held == weight) then
        if not yieldsOwn or mine == 0 then return false end
        yields = owner
      end
      local oldest = redis.call('ZRANGE', p .. 'of:' .. yields, 0, 0)
      if oldest[1] then
        drop(oldest[1])
        release(yields, oldest[1])
      else
        redis.call('ZREM', p .. 'owners', yields)
      end
    end
  end
  return false
end

local function admit(owner, id, weight, ends, most, yieldsOwn)
  sweep(owner)
  sweepDue()
  if not makeRoom(owner, weight, most, yieldsOwn) then return false end
  keep(owner, id, ends)
  if weight ~= 1 then redis.call('HSET', p .. 'weights', id, weight) end
  count(owner, weight)
  return true
end
`;

/** Milliseconds of the server's clock. */
export const NOW = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
`;

/** Most entries of each kind on the server, and the cache's bytes. */
export interface RedisRoom {
  readonly buckets: number;
  readonly sessions: number;
  readonly reservations: number;
  readonly cacheBytes: number;
}

/** Used if the server has no limit of its own. */
export const ROOM: RedisRoom = {
  buckets: 1_000_000,
  sessions: 500_000,
  reservations: 500_000,
  cacheBytes: Number.MAX_SAFE_INTEGER,
};

/** Bytes of an entry, including its shares. */
const BUCKET_BYTES = 640;
const SESSION_BYTES = 640;
const RESERVATION_BYTES = 1_024;

/** Parts of the server's memory: the rest is for nonces, budgets, and the server itself. */
const PARTS = { buckets: 0.3, sessions: 0.15, reservations: 0.1, cache: 0.25 };

/** `maxMemory`: bytes; 0: the server has no limit. */
export function roomIn(maxMemory: number): RedisRoom {
  if (maxMemory === 0) return ROOM;
  const most = (part: number, bytes: number) => Math.max(100, Math.floor((maxMemory * part) / bytes));
  return {
    buckets: Math.min(ROOM.buckets, most(PARTS.buckets, BUCKET_BYTES)),
    sessions: Math.min(ROOM.sessions, most(PARTS.sessions, SESSION_BYTES)),
    reservations: Math.min(ROOM.reservations, most(PARTS.reservations, RESERVATION_BYTES)),
    cacheBytes: Math.floor(maxMemory * PARTS.cache),
  };
}

const MOST_KEY = 128;

/** An IPv6 network counts as the site that it is of. */
export function ownerKey(path: OwnerPath): string {
  const key = path.filter((each) => !each.endsWith('::/64')).join('|');
  return key.length <= MOST_KEY ? key : hash('sha256', key, 'base64url');
}
