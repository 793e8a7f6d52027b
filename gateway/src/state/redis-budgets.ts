/**
 * The budgets of `MemoryBudgetStore` as scripts on the server, so that one round trip decides and no two pods can both
 * have the last of one. Times are the server's: the clocks of pods do not matter.
 *
 * KEYS: a sorted set of spent entries, by time in milliseconds; a hash with the amount of each of its entries, the
 * total spent, and the total reserved; a hash of reservations, by id; a sorted set of ids, by the end of their lease. A
 * bucket that had to make room for others (docs/decisions.md#shared-limits) leaves a text instead of the first, which
 * refuses until its window has passed. ARGV: the id, the window and the lease in milliseconds, the amount, the quota;
 * the prefix of all buckets' keys, the owner, the bucket, and the most buckets.
 */
import { GRAINS, RETRY_RESERVED } from './budget-store.ts';
import { NOW, SHARES } from './redis-shares.ts';

/** Common beginning of the scripts. */
const BEGIN = `
local id, window, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local p, owner, bucket, most = ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9])
${NOW}
local function drop(each)
  local key = p .. each
  if redis.call('EXISTS', key .. ':held') == 1 then return end
  local left = redis.call('PTTL', key .. ':times')
  redis.call('DEL', key .. ':times', key .. ':amounts', key .. ':leases')
  if left > 0 then redis.call('SET', key .. ':times', 'closed', 'PX', left) end
end
${SHARES}
local isClosed = redis.call('TYPE', KEYS[1]).ok == 'string'
local grain = window / ${GRAINS}
local lasts = window + grain

local function spend(entry, amount, at)
  if amount == 0 then return end
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  if last[1] and at - tonumber(last[2]) <= grain then entry = last[1]
  else redis.call('ZADD', KEYS[1], string.format('%.3f', at), entry) end
  redis.call('HINCRBY', KEYS[2], entry, string.format('%.0f', amount))
  redis.call('HINCRBY', KEYS[2], 'spent', string.format('%.0f', amount))
end

local function settle(held, amount, at)
  local reserved = redis.call('HGET', KEYS[3], held)
  if not reserved then return 0 end
  redis.call('HDEL', KEYS[3], held)
  redis.call('ZREM', KEYS[4], held)
  if reserved ~= '0' then redis.call('HINCRBY', KEYS[2], 'reserved', '-' .. reserved) end
  spend(held, amount or tonumber(reserved), at)
  return 1
end

local function keep()
  local latest = redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')
  local held = math.max(0, tonumber(latest[2] or now) - now)
  for i = 1, 4 do redis.call('PEXPIRE', KEYS[i], math.ceil(lasts + held) + 1000) end
end

if not isClosed then
local late = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', now, 'WITHSCORES')
for i = 1, #late, 2 do settle(late[i], nil, tonumber(late[i + 1])) end
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - lasts)
for _, entry in ipairs(gone) do
  redis.call('HINCRBY', KEYS[2], 'spent', '-' .. (redis.call('HGET', KEYS[2], entry) or '0'))
  redis.call('HDEL', KEYS[2], entry)
end
if #gone > 0 then redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lasts) end
end
`;

/**
 * Answers with: allowed, the rest, when the whole quota is there again, and in how long as much would be; milliseconds.
 */
export const RESERVE_BUDGET_SCRIPT = `${BEGIN}
if isClosed then
  local left = redis.call('PTTL', KEYS[1])
  return { 0, '0', string.format('%.3f', now + left), string.format('%.3f', left) }
end
local ends = now + lasts + lease + 1000
if redis.call('EXISTS', KEYS[1], KEYS[3]) > 0 then touch(owner, bucket, ends)
elseif not admit(owner, bucket, 1, ends, most, false) then
  return { 0, '0', string.format('%.3f', now + lasts), '${RETRY_RESERVED * 1000}' }
end
local amount, quota = tonumber(ARGV[4]), tonumber(ARGV[5])
local spent = tonumber(redis.call('HGET', KEYS[2], 'spent') or 0)
local reserved = tonumber(redis.call('HGET', KEYS[2], 'reserved') or 0)
local allowed, retry = 0, 0
if spent + reserved + amount <= quota then
  allowed = 1
  reserved = reserved + amount
  redis.call('HSET', KEYS[3], id, string.format('%.0f', amount))
  redis.call('ZADD', KEYS[4], string.format('%.3f', now + lease), id)
  redis.call('HINCRBY', KEYS[2], 'reserved', string.format('%.0f', amount))
else
  local needed, freed = spent + reserved + amount - quota, 0
  retry = ${RETRY_RESERVED * 1000}
  local grains = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
  for i = 1, #grains, 2 do
    freed = freed + tonumber(redis.call('HGET', KEYS[2], grains[i]) or 0)
    if freed >= needed then
      retry = math.max(0, tonumber(grains[i + 1]) + lasts - now)
      break
    end
  end
end
keep()
local latest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
local reset = now
if reserved > 0 then reset = now + lasts elseif latest[2] then reset = tonumber(latest[2]) + lasts end
local left = math.max(0, quota - spent - reserved)
return { allowed, string.format('%.0f', left), string.format('%.3f', reset), string.format('%.3f', retry) }
`;

/** Answers with 1 if it was reserved. */
export const SETTLE_BUDGET_SCRIPT = `${BEGIN}
if isClosed then return 0 end
local settled = settle(id, tonumber(ARGV[4]), now)
keep()
return settled
`;

/** Answers with 1 if it is reserved. */
export const RENEW_BUDGET_SCRIPT = `${BEGIN}
if isClosed then return 0 end
if redis.call('HEXISTS', KEYS[3], id) == 0 then return 0 end
redis.call('ZADD', KEYS[4], 'XX', string.format('%.3f', now + lease), id)
keep()
return 1
`;
