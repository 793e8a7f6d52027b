/** What stands for an API server in tests of what one refuses or changes at a moment of their choosing: objects by path. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { isRecord } from '../../operator/src/kube/kube-object.ts';
import { ApiServer } from '../../operator/src/runtime/api-server.ts';

type Stored = Readonly<Record<string, unknown>>;

export interface FakeApiServer {
  readonly api: ApiServer;
  readonly objects: Map<string, Stored>;
  /** Paths that were written, in their order. */
  readonly writes: string[];
  /** Refuses every write with 403, while true, and repeats what was sent, as API servers do. */
  refuses: boolean;
  close(): Promise<void>;
}

/** With the optimistic locking of a real server; of JSON patches it knows `add` and `test`. */
export async function startApiServer(): Promise<FakeApiServer> {
  const objects = new Map<string, Stored>();
  const writes: string[] = [];
  const state = { refuses: false };
  let version = 0;
  const server = createServer(async (incoming, response) => {
    let text = '';
    for await (const chunk of incoming) text += chunk;
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const answer = (status: number, value: object) => response.writeHead(status).end(JSON.stringify(value));
    const metadata = isRecord(body) && isRecord(body['metadata']) ? body['metadata'] : {};
    const path = incoming.method === 'POST' ? `${incoming.url}/${metadata['name']}` : (incoming.url ?? '');
    const found = objects.get(path);
    const stored = isRecord(found?.['metadata']) ? found['metadata']['resourceVersion'] : undefined;
    if (incoming.method !== 'POST' && !found) return void answer(404, { message: `${path} not found` });
    if (incoming.method === 'GET') return void answer(200, found ?? {});
    if (state.refuses) return void answer(403, { reason: 'Forbidden', message: `not allowed: ${text}` });
    const expected = Array.isArray(body) ? body[0].value : metadata['resourceVersion'];
    if (expected !== stored) return void answer(409, { reason: 'Conflict', message: 'modified' });
    writes.push(path);
    const next = Array.isArray(body) ? patched(found ?? {}, body.slice(1)) : isRecord(body) ? body : {};
    const its = isRecord(next['metadata']) ? next['metadata'] : {};
    objects.set(path, { ...next, metadata: { ...its, resourceVersion: String(++version) } });
    answer(200, objects.get(path) ?? {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }],
    users: [{ name: 'u' }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  const api = new ApiServer(config);
  return Object.assign(state, {
    api,
    objects,
    writes,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await api.close();
    },
  });
}

function patched(object: Stored, operations: readonly { readonly path: string; readonly value: unknown }[]): Stored {
  const copy: Stored = structuredClone(object);
  for (const { path, value } of operations) {
    const keys = path.split('/').slice(1);
    const last = keys.pop() ?? '';
    const parent = keys.reduce<unknown>((at, key) => (at as Stored)[key], copy);
    (parent as Record<string, unknown>)[last] = value;
  }
  return copy;
}
