import { once } from 'node:events';
import { createServer } from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { isRecord } from '../kube/kube-object.ts';
import { ApiServer } from './api-server.ts';
import { Lease } from './lease.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Longer than a busy machine keeps a process from running. */
const DURATION_SECONDS = 3;

/** One Lease, with the optimistic locking of a real server. */
async function serve() {
  const state = { version: 0, spec: {} as { [name: string]: unknown }, broken: false };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (state.broken) return void request.socket.destroy();
    if (request.method === 'GET' && state.version === 0) return void answer(404, {});
    if (request.method !== 'GET') {
      const body: unknown = JSON.parse(text);
      const metadata = isRecord(body) && isRecord(body['metadata']) ? body['metadata'] : {};
      const expected = request.method === 'POST' ? '0' : String(metadata['resourceVersion']);
      if (expected !== String(state.version)) return void answer(409, { reason: 'Conflict', message: 'modified' });
      state.version++;
      state.spec = isRecord(body) && isRecord(body['spec']) ? { ...body['spec'] } : {};
    }
    answer(200, { metadata: { resourceVersion: String(state.version) }, spec: state.spec });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no address');
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'c', server: `http://127.0.0.1:${address.port}`, skipTLSVerify: true }],
    users: [{ name: 'u' }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  const api = new ApiServer(config);
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await api.close();
  });
  const candidate = (identity: string) => {
    const lease = new Lease(api, {
      namespace: 'gw-system',
      name: 'gw-operator',
      identity,
      durationSeconds: DURATION_SECONDS,
      renewSeconds: 0.1,
      onError: () => undefined,
    });
    closing.push(() => lease.close());
    return lease;
  };
  return { state, candidate };
}

describe('a Lease', () => {
  it('has one holder, and goes over at once when that one gives it back', async () => {
    const { state, candidate } = await serve();
    const [a, b] = [candidate('a'), candidate('b')];
    expect(await a.acquire(() => undefined)).toBe(true);
    let second = false;
    const waiting = b.acquire(() => undefined).then((got) => (second = got));
    await eventually(() => expect(state.version).toBeGreaterThan(8));
    expect([second, state.spec['holderIdentity']]).toEqual([false, 'a']);
    await a.close();
    await waiting;
    expect(state.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    expect(state.spec['renewTime']).toMatch(/\.\d{6}Z$/);
  });

  it('is lost before another may take it, when the server cannot be reached', async () => {
    const { state, candidate } = await serve();
    const lost = vi.fn();
    await candidate('a').acquire(lost);
    const since = performance.now();
    state.broken = true;
    await eventually(() => expect(lost).toHaveBeenCalledOnce());
    expect(performance.now() - since).toBeLessThan(DURATION_SECONDS * 1000);
  });

  it('is taken from a holder that is gone', async () => {
    const { state, candidate } = await serve();
    state.version = 1;
    state.spec = { holderIdentity: 'gone', leaseDurationSeconds: 1, renewTime: '2020-01-01T00:00:00.000000Z' };
    expect(await candidate('b').acquire(() => undefined)).toBe(true);
    expect(state.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });
});
