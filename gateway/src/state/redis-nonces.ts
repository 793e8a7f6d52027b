/**
 * Nonces on a server, as `NonceStore` has them. The time since which the server remembers is stored with the data: a
 * server that lost it begins anew, and earlier signatures are `forgotten`. Times are the server's.
 */
import { MAX_NONCES } from './nonce-store.ts';

/** KEYS: key of the beginning. */
export const BEGIN_SCRIPT = `
return redis.call('SET', KEYS[1], redis.call('TIME')[1], 'NX')
`;

/**
 * KEYS: the beginning; the credential's nonces by the time of their signatures; and the time since which they are
 * complete, if some were dropped. ARGV: the nonce, the time of its signature and its longest validity, in seconds.
 */
export const ENTER_SCRIPT = `
local created, keep = tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(redis.call('TIME')[1])
redis.call('SET', KEYS[1], now, 'NX')
local began = math.max(tonumber(redis.call('GET', KEYS[1])), tonumber(redis.call('GET', KEYS[3]) or 0))
if created < began then return 'forgotten' end
if redis.call('ZADD', KEYS[2], 'NX', created, ARGV[1]) == 0 then return 'used' end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. (now - keep))
if redis.call('ZCARD', KEYS[2]) > ${MAX_NONCES} then
  local oldest = tonumber(redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', oldest)
  redis.call('SET', KEYS[3], oldest + 1, 'EX', keep)
end
redis.call('EXPIRE', KEYS[2], keep)
return 'new'
`;
