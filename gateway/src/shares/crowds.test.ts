/** Work that is shared out by owner: one client that asks for all of it, beside another (docs/shared-limits.md). */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { Embedder } from '../../features/ai/host/policies/caching/embedder.ts';
import { Spending } from '../../features/ai/host/policies/spending/spending.ts';
import { Endpoint, KnownEndpoints } from '../../features/ai/host/proxy/targets/endpoint.ts';
import { DirectoryUnavailable } from '../../features/auth/host/directory/connection.ts';
import { Directory } from '../../features/auth/host/directory/directory.ts';
import { readDirectorySettings } from '../../features/auth/host/directory/directory-settings.ts';
import { recordedExchange } from '../../sdk/testing/recorder.ts';
import { EgressGuard } from '../egress/guard.ts';
import { MemoryCacheStore } from '../state/memory-cache-store.ts';
import { MemoryState } from '../state/memory-state.ts';
import { StateUnavailable } from '../state/state.ts';
import { Crowded } from './fair-queue.ts';

const never = () => Promise.reject(new Error('nobody asks for it'));
const NO_CALLS = { open: never, upgrade: never };
const [CLIENT, FLOOD] = ['192.0.2.1', '192.0.2.9'];

describe('a client is served beside another one that floods', () => {
  it('users that wait for a directory', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const url = `ldap://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const settings = readDirectorySettings({ url, allow_plaintext: true, user_base_dn: 'dc=example', timeout: 60 });
    const guard = new EgressGuard({ allowInternal: true, allow: [] });
    const directory = new Directory(settings, { guard, cache: new MemoryCacheStore(), log: () => {} });
    const failures = new Map<string, unknown>();
    const verify = async (name: string, client: string) => {
      await Promise.resolve(directory.verify(name, 'password', [client])).catch((error: unknown) => {
        failures.set(name, error);
      });
    };
    const flood = Array.from({ length: 300 }, (_, i) => verify(`flood ${i}`, FLOOD));
    await vi.waitFor(() => expect(failures.size).toBe(300 - 16 - 256));
    const mine = verify('mine', CLIENT);
    await vi.waitFor(() => expect(failures.size).toBe(300 - 16 - 256 + 1));
    expect(failures.has('mine')).toBe(false);
    expect([...failures.values()].every((error) => error instanceof Crowded)).toBe(true);
    directory.close();
    silent.close();
    for (const socket of sockets) socket.destroy();
    silent.on('connection', (socket) => socket.destroy());
    await Promise.all([...flood, mine]);
    expect(failures.get('mine')).toBeInstanceOf(DirectoryUnavailable);
  });

  it('embeddings', async () => {
    const results: string[] = [];
    const endpoint = new Endpoint(
      { provider: 'provider_chat', base_url: 'https://embeddings.example/v1' },
      new KnownEndpoints(),
    );
    const answer = JSON.stringify({ data: [{ embedding: [1, 0] }] });
    const embedder = new Embedder(
      { endpoint, model: 'm', dimensions: null, timeoutMs: 1_000 },
      {
        http: {
          ...NO_CALLS,
          call: ({ body }) =>
            String(body).includes('mine')
              ? Promise.resolve({ status: 200, headers: [], body: Buffer.from(answer) })
              : new Promise(() => {}),
        },
        countEmbedding: (result) => results.push(result),
        log: () => {},
      },
    );
    for (let i = 0; i < 300; i++) void embedder.vectorOf('flood', recordedExchange({ clientIp: FLOOD }));
    await vi.waitFor(() => expect(results).toHaveLength(100));
    expect(await embedder.vectorOf('mine', recordedExchange({ clientIp: CLIENT }))).not.toBeNull();
    await vi.waitFor(() => expect(results.toSorted()).toEqual(['embedded', ...Array(101).fill('overloaded')]));
  });

  it('spending that waits for its store', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    const store = new MemoryState().budgets;
    const settled: string[] = [];
    let isAway = true;
    const spending = new Spending({
      ...store,
      reserve: (reservation) => store.reserve(reservation),
      renew: (renewal) => store.renew(renewal),
      settle: async ({ id }) => {
        if (isAway) throw new StateUnavailable('away');
        settled.push(id);
        return true;
      },
    });
    const terms = { policy: 'p', bucket: 'b', amount: 1, quota: 10, windowSeconds: 60, spent: () => 1 };
    await spending.reserve(recordedExchange({ clientIp: CLIENT }), { ...terms, bucket: 'first' });
    spending.settle({ ...terms, id: 'mine', owner: ['p', CLIENT] }, 1);
    for (let i = 0; i < 10_500; i++) spending.settle({ ...terms, id: `flood ${i}`, owner: ['p', FLOOD] }, 1);
    await vi.advanceTimersByTimeAsync(1);
    isAway = false;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(settled).toHaveLength(10_000);
    expect(settled).toContain('mine');
    await spending.drain(1);
    vi.useRealTimers();
  });
});
