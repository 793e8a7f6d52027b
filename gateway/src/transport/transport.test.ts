/** Connections that are on their way to a server when it closes. */
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { ClientAddress } from '../headers/client-ip.ts';
import { HeaderMemory } from './header-memory.ts';
import { createTransport, type TransportLimits } from './transport.ts';

/** None of which ends anything in a test. */
const LIMITS: TransportLimits = {
  maxBodySize: 1 << 20,
  maxHeaders: 100,
  maxHeaderSize: 8192,
  maxHeaderBytes: 100 * 8192,
  maxUriLength: 8192,
  keepAliveTimeoutMs: 600_000,
  headersTimeoutMs: 600_000,
  bodyTimeoutMs: 600_000,
  sendTimeoutMs: 600_000,
  http2MaxStreams: 100,
  http2MaxResets: 1000,
  pingIntervalMs: 600_000,
};
const FAR_OFF = 600_000;

describe('closing', () => {
  it('waits for no connection that gets its slot only then, and says nothing', async () => {
    const held: ((admitted: boolean) => void)[] = [];
    let released = 0;
    const slots = {
      take: () => new Promise<boolean>((resolve) => held.push(resolve)),
      release: () => {
        released++;
      },
    };
    const nothing = () => {};
    const events = {
      request: nothing,
      connectionOpened: nothing,
      connectionClosed: nothing,
      yielded: nothing,
      refused: nothing,
    };
    const headerMemory = new HeaderMemory({ most: 1 << 20, client: new ClientAddress([]), yielded: nothing });
    const transport = createTransport(LIMITS, events, { slots, headerMemory });
    const { port } = await transport.listen('127.0.0.1', 0);
    const clients = Array.from({ length: 3 }, () => silent(port));
    await eventually(() => expect(held).toHaveLength(3));
    const closed = transport.close(FAR_OFF);
    for (const admit of held) admit(true);
    await closed;
    await eventually(() => expect(clients.every(({ closed }) => closed)).toBe(true));
    expect(released).toBe(3);
  });
});

function silent(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket.resume();
}
