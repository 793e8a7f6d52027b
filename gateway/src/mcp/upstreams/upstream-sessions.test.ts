import { expect, it } from 'vitest';
import type { Session } from '../client/client.ts';
import { UpstreamSessionEnded, UpstreamSessions, UpstreamSessionsFull } from './upstream-sessions.ts';

const session = (id: string): Session => ({ era: 'sessions', headers: ['mcp-session-id', id], server: {} });

it('ends no session of a client silently, however many another one opens', async () => {
  const ended: unknown[] = [];
  const sessions = new UpstreamSessions((each) => ended.push(each), 3);
  const of = (client: string, owner: string) =>
    sessions.of(client, { headers: [], owner: [owner] }, async () => session(client));
  const mine = await of('mine', 'quiet');
  for (const client of ['a', 'b']) await of(client, 'busy');
  await expect(of('c', 'busy')).rejects.toThrow(UpstreamSessionsFull);
  expect(await of('mine', 'quiet')).toBe(mine);
  const other = await of('other', 'new');
  expect(await of('other', 'new')).toBe(other);
  await expect(of('a', 'busy')).rejects.toThrow(UpstreamSessionEnded);
  expect(sessions.opened('a')).toBeNull();
  expect(await of('mine', 'quiet')).toBe(mine);
  expect(ended).toHaveLength(3);
});
