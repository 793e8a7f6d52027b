import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { configMaps } from '../api/resources.ts';
import { ApiServer } from './api-server.ts';
import { ClusterObjects } from './cluster-objects.ts';

type Answer = (request: URL, response: ServerResponse, raw: IncomingMessage) => void;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that answers as a test says, and a client of it. */
async function serve(answer: Answer) {
  const requests: URL[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://api');
    requests.push(url);
    answer(url, response, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no address');
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'c', server: `http://127.0.0.1:${address.port}`, skipTLSVerify: true }],
    users: [{ name: 'u', token: 'secret-token' }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  const api = new ApiServer(config);
  const restarts: string[] = [];
  const objects = new ClusterObjects(api, { onRestart: (resource) => restarts.push(resource) });
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await api.close();
  });
  return { requests, objects, restarts };
}

const meta = (name: string, version: string) => ({
  metadata: { name, namespace: 'default', resourceVersion: version },
});
const list = (version: string, items: unknown[] | null, token = '') =>
  JSON.stringify({ metadata: { resourceVersion: version, continue: token }, items });
const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

function follow(objects: ClusterObjects) {
  const seen: string[] = [];
  const watch = objects.watch(configMaps, { metadataOnly: true }, ({ type, object }) =>
    seen.push(`${type} ${object.metadata.name}`),
  );
  closing.push(() => watch.close());
  return { seen, watch };
}

describe('a watch', () => {
  it('lists in pages, then follows changes', async () => {
    const { objects, requests } = await serve((url, response) => {
      if (url.searchParams.has('watch')) response.write(event('ADDED', meta('c', '12')));
      else if (url.searchParams.get('continue') === 'more') response.end(list('10', [meta('b', '2')]));
      else response.end(list('10', [meta('a', '1')], 'more'));
    });
    const { seen, watch } = follow(objects);
    await watch.synced;
    await eventually(() => expect(seen).toEqual(['added a', 'added b', 'added c']));
    expect(requests[2]?.searchParams.get('resourceVersion')).toBe('10');
  });

  it('goes on from the last version seen when its socket is reset, again and again', async () => {
    let watches = 0;
    const { objects, requests, restarts } = await serve((url, response, request) => {
      if (!url.searchParams.has('watch')) return response.end(list('10', null));
      watches++;
      const version = 10 + watches;
      response.write(
        watches === 2
          ? event('BOOKMARK', meta('', String(version)))
          : event('ADDED', meta(`m${watches}`, String(version))),
        () => {
          if (watches < 4) setTimeout(() => request.socket.resetAndDestroy(), 20);
        },
      );
    });
    const { seen } = follow(objects);
    await eventually(() => expect(seen).toEqual(['added m1', 'added m3', 'added m4']));
    const from = requests
      .filter((url) => url.searchParams.has('watch'))
      .map((url) => url.searchParams.get('resourceVersion'));
    expect(from).toEqual(['10', '11', '12', '13']);
    expect(restarts).toHaveLength(3);
    expect(requests.filter((url) => !url.searchParams.has('watch'))).toHaveLength(1);
  });

  it('lists again after 410 Gone, and reports what went meanwhile', async () => {
    let lists = 0;
    const { objects } = await serve((url, response) => {
      if (!url.searchParams.has('watch')) {
        lists++;
        response.end(lists === 1 ? list('10', [meta('a', '1'), meta('b', '2')]) : list('90', [meta('b', '80')]));
      } else if (lists === 1) {
        response.end(
          event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }),
        );
      }
    });
    const { seen } = follow(objects);
    await eventually(() => expect(seen).toEqual(['added a', 'added b', 'modified b', 'deleted a']));
  });

  it('waits out a server that refuses, and then starts', async () => {
    let lists = 0;
    const { objects, restarts } = await serve((url, response) => {
      if (url.searchParams.has('watch')) return;
      lists++;
      if (lists < 3) response.writeHead(500).end('broken');
      else response.end(list('10', [meta('a', '1')]));
    });
    const { seen } = follow(objects);
    await eventually(() => expect(seen).toEqual(['added a']));
    expect(restarts).toHaveLength(2);
  });

  it('ends when it is closed', async () => {
    const { objects } = await serve((url, response) => {
      if (!url.searchParams.has('watch')) response.end(list('10', []));
    });
    const { watch } = follow(objects);
    await watch.synced;
    await watch.close();
  });
});

describe('requests', () => {
  it('carry the token, and errors carry the reason of the Status', async () => {
    let token: string | undefined;
    const { objects } = await serve((_, response, request) => {
      token = request.headers.authorization;
      response
        .writeHead(403)
        .end(JSON.stringify({ kind: 'Status', reason: 'Forbidden', message: 'configmaps is forbidden' }));
    });
    await expect(objects.get(configMaps, { namespace: 'default', name: 'x' })).rejects.toThrow(
      'configmaps is forbidden',
    );
    expect(token).toBe('Bearer secret-token');
  });

  it('say nothing about an object that is not there', async () => {
    const { objects } = await serve((_, response) => response.writeHead(404).end('{}'));
    expect(await objects.get(configMaps, { namespace: 'default', name: 'x' })).toBeUndefined();
    await objects.remove(configMaps, { namespace: 'default', name: 'x' });
  });
});
