/**
 * The sliding window of `MemoryRateLimitStore` as a script on the server, so that one round trip decides and no two
 * pods can both have the last one. Times are the server's: the clocks of pods do not matter.
 *
 * KEYS: a sorted set of entries by time in milliseconds, and a hash with the count of each entry that stands for more
 * than one request. A bucket that had to make room for others (docs/decisions.md#shared-limits) leaves a text instead
 * of the set, which refuses until its window has passed. ARGV: quota, window in milliseconds, an id that no other call
 * has; the prefix of all buckets' keys, the owner, the bucket, and the most buckets.
 */
import { EXACT_QUOTA } from './rate-limit-store.ts';
import { NOW, SHARES } from './redis-shares.ts';

/** Milliseconds after which to retry if there is no room for another bucket. */
const RETRY_CROWDED_MS = 1_000;

export const TAKE_SCRIPT = `
local quota, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local p, owner, bucket, most = ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])
${NOW}
local function drop(each)
  local left = redis.call('PTTL', p .. each .. ':times')
  redis.call('DEL', p .. each .. ':times', p .. each .. ':counts')
  if left > 0 then redis.call('SET', p .. each .. ':times', 'closed', 'PX', left) end
end
${SHARES}
local grain = 0
if quota > ${EXACT_QUOTA} then grain = window / ${EXACT_QUOTA} end
local lasts = window + grain

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'string' then
  local left = redis.call('PTTL', KEYS[1])
  return { 0, 0, string.format('%.3f', now + left), string.format('%.3f', left) }
end
local ends = now + lasts + 1000
if kind == 'none' then
  if not admit(owner, bucket, 1, ends, most, false) then
    return { 0, 0, string.format('%.3f', now + lasts), '${RETRY_CROWDED_MS}' }
  end
else
  touch(owner, bucket, ends)
end

local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - lasts)
if #old > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lasts)
  if grain > 0 then
    local gone = 0
    for _, entry in ipairs(old) do
      gone = gone + tonumber(redis.call('HGET', KEYS[2], entry) or 0)
      redis.call('HDEL', KEYS[2], entry)
    end
    redis.call('HINCRBY', KEYS[2], 'total', -gone)
  end
end

local total
if grain > 0 then total = tonumber(redis.call('HGET', KEYS[2], 'total') or 0)
else total = redis.call('ZCARD', KEYS[1]) end

local allowed = 0
if total < quota then
  allowed = 1
  total = total + 1
  if grain > 0 then
    local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
    local entry = last[1]
    if not entry or now - tonumber(last[2]) > grain then
      entry = ARGV[3]
      redis.call('ZADD', KEYS[1], string.format('%.3f', now), entry)
    end
    redis.call('HINCRBY', KEYS[2], entry, 1)
    redis.call('HINCRBY', KEYS[2], 'total', 1)
    redis.call('PEXPIRE', KEYS[2], math.ceil(lasts) + 1000)
  else
    redis.call('ZADD', KEYS[1], string.format('%.3f', now), ARGV[3])
  end
  redis.call('PEXPIRE', KEYS[1], math.ceil(lasts) + 1000)
end

local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
local latest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
local reset = now
if latest[2] then reset = tonumber(latest[2]) + lasts end
local retry = 0
if allowed == 0 and first[2] then retry = math.max(0, tonumber(first[2]) + lasts - now) end
return { allowed, math.max(0, quota - total), string.format('%.3f', reset), string.format('%.3f', retry) }
`;
