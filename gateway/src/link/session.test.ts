/** A data plane's end of the link against control planes that are slow, silent, wrong or hostile. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { propertyRuns } from '../../../test/property-runs.ts';
import { ControlPlaneLink } from './control-plane-link.ts';
import type { Hello, Notice } from './messages.ts';
import { Session } from './session.ts';

const HELLO: Hello = {
  type: 'hello',
  api_key: 'k',
  project_id: '6f2f7a3e-52c6-4e0c-9a1b-0d4f4c9d3a10',
  name: 'edge',
  instance_id: 'i',
  gw_version: '0.8.0',
  artifact_versions: [6],
  artifact_hash: null,
  labels: {},
};
const welcome = (heartbeat_seconds: number) =>
  JSON.stringify({ type: 'welcome', data_plane_id: 'p', heartbeat_seconds, artifact: null });

describe('a session', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** A server that does with each WebSocket what it is told. */
  const serve = async (greet: (socket: WebSocket, count: number) => void): Promise<URL> => {
    const server = createServer((_request, response) => response.writeHead(404).end());
    const sockets = new WebSocketServer({ server });
    let count = 0;
    sockets.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.once('message', () => greet(socket, ++count));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return new URL(`ws://127.0.0.1:${port}/ws/data-plane`);
  };
  const session = (url: URL) => {
    const wanted: Notice[] = [];
    const made = new Session(url, () => HELLO, {
      welcomed: () => {},
      wanted: (notice) => wanted.push(notice),
      drift: () => {},
      served: () => null,
    });
    return { ended: made.ended, wanted };
  };

  it('ends where the control plane falls silent', async () => {
    const url = await serve((socket) => socket.send(welcome(0.05)));
    const { why, retry, lastedMs } = await session(url).ended;
    expect([why, retry]).toEqual(['the control plane no longer responds', 'backoff']);
    expect(lastedMs).toBeGreaterThan(100);
  });

  it.each([
    ['not JSON', '{'],
    ['a notice before its welcome', JSON.stringify({ type: 'drift', drifted: true, wanted: null })],
    ['a welcome without a heartbeat', JSON.stringify({ type: 'welcome', data_plane_id: 'p', artifact: null })],
  ])('ends where it says %s, and tries again slowly', async (_what, text) => {
    const url = await serve((socket) => socket.send(text));
    const end = await session(url).ended;
    expect(end).toMatchObject({ retry: 'slow', why: expect.stringContaining('not understood') });
  });

  it('says what answers instead of a WebSocket', async () => {
    const answers = async (status: number) => {
      const server = createServer((_request, response) => response.writeHead(status, { connection: 'close' }).end());
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      return session(new URL(`ws://127.0.0.1:${port}/ws/data-plane`)).ended;
    };
    expect(await answers(503)).toMatchObject({ retry: 'backoff', why: expect.stringContaining('HTTP 503') });
    expect(await answers(400)).toMatchObject({ retry: 'slow', why: expect.stringContaining('gw.data-plane.v1') });
    expect(await answers(302)).toMatchObject({ retry: 'slow' });
  });

  it('takes the reason and the time from what is said before a close', async () => {
    const refused = await serve((socket) => {
      socket.send(JSON.stringify({ type: 'refused', reason: 'unknown-project', detail: 'no such project' }));
      socket.close(4404);
    });
    expect(await session(refused).ended).toMatchObject({
      refused: 'unknown-project',
      retry: 'slow',
      why: 'no such project',
    });
    const leaves = await serve((socket) => {
      socket.send(welcome(15));
      socket.send(JSON.stringify({ type: 'goodbye', after_ms: 7 }));
      socket.close(1001);
    });
    expect(await session(leaves).ended).toMatchObject({ refused: null, afterMs: 7 });
  });

  it('lives on or ends whatever it is told, and takes no notice that is none', async () => {
    const messages = fc.array(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc
          .tuple(
            fc.constantFrom('welcome', 'artifact', 'drift', 'goodbye', 'refused', 'heartbeat', 'later'),
            fc.dictionary(fc.string(), fc.jsonValue()),
          )
          .map(([type, members]) => JSON.stringify({ ...members, type })),
      ),
      { maxLength: 5 },
    );
    let next: readonly string[] = [];
    const url = await serve((socket) => {
      socket.send(welcome(15));
      for (const text of next) socket.send(text);
      socket.close();
    });
    await fc.assert(
      fc.asyncProperty(messages, async (texts) => {
        next = texts;
        const { ended, wanted } = session(url);
        await ended;
        expect(wanted).toEqual([]);
      }),
      propertyRuns(100),
    );
  });

  it('is tried again slowly after a refusal that someone must mend, and the reason is said once', async () => {
    const said: string[] = [];
    let came = () => {};
    const thrice = new Promise<void>((resolve) => {
      came = resolve;
    });
    const times: number[] = [];
    const url = await serve((socket, count) => {
      times.push(performance.now());
      socket.send(JSON.stringify({ type: 'refused', reason: 'bad-key', detail: 'no project has this API key' }));
      socket.close(4401);
      if (count === 3) came();
    });
    const link = new ControlPlaneLink(
      {
        controlPlane: url.href,
        projectId: HELLO.project_id,
        apiKey: 'k',
        name: 'edge',
        labels: {},
        instanceId: 'i',
        trustedKeys: [],
        times: { firstMs: 1, mostMs: 1, slowMs: 200 },
      },
      {
        served: () => null,
        load: async () => {},
        connected: () => {},
        disconnected: (why) => said.push(why),
        refused: () => {},
        drift: () => {},
      },
    );
    link.start();
    await thrice;
    await link.stop();
    expect(said).toEqual(['no project has this API key']);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(150);
  });
});
