/** Sessions on a server, as `MemorySessionStore` has them: each a text of revision and owner with the time that is left to it. */
import { NOW, SHARES } from './redis-shares.ts';

/** Common beginning of the scripts. ARGV: the prefix of keys, the id, milliseconds for which it lasts. */
const BEGIN = `
local p, id, lasts = ARGV[1], ARGV[2], tonumber(ARGV[3])
${NOW}
local function drop(each) redis.call('DEL', p .. 'is:' .. each) end
${SHARES}
`;

/** ARGV: also the owner, the revision, and the most sessions. Answers with 1 if the session is stored. */
export const OPEN_SESSION_SCRIPT = `${BEGIN}
if not admit(ARGV[4], id, 1, now + lasts, tonumber(ARGV[6]), true) then return 0 end
redis.call('SET', p .. 'is:' .. id, ARGV[5] .. ' ' .. ARGV[4], 'PX', lasts)
return 1
`;

/** Answers with the revision, if the session exists. */
export const USE_SESSION_SCRIPT = `${BEGIN}
local known = redis.call('GET', p .. 'is:' .. id)
if not known then return false end
local revision, owner = string.match(known, '^(%S*) (.*)$')
redis.call('PEXPIRE', p .. 'is:' .. id, lasts)
touch(owner, id, now + lasts)
return revision
`;

/** Answers with 1 if the session existed. */
export const END_SESSION_SCRIPT = `${BEGIN}
local known = redis.call('GET', p .. 'is:' .. id)
if not known then return 0 end
drop(id)
release(string.match(known, '^%S* (.*)$'), id)
return 1
`;
