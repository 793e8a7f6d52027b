/** subject-subscribe with a server of its own: credentials, permissions, a server that is killed and that hangs. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { connect as connectNats } from '../../../../test/serve/nats-client.ts';
import { NatsServer, NO_NATS_SERVER } from './nats-server.ts';
import { streaming } from './streaming.ts';

describe.skipIf(NO_NATS_SERVER)(
  'subject-subscribe with its own nats-server (needs GW_NATS_SERVER, or nats-server)',
  () => {
    const { serve, open } = streaming('subject-subscribe');
    const servers: NatsServer[] = [];
    afterEach(async () => {
      await Promise.all(servers.splice(0).map((server) => server.close()));
    });

    async function startNats(config?: string): Promise<NatsServer> {
      const server = await NatsServer.start(config);
      servers.push(server);
      return server;
    }

    it('identifies itself, says nothing of it, and is refused what is not permitted', async () => {
      const server = await startNats(
        'authorization { users: [{ user: gw, password: "pass-secret", permissions: { subscribe: ["allowed", "_INBOX.>"] } }] }',
      );
      const base = { url: server.url, user: 'gw', password: 'env://SECRET', allow_plaintext: true, timeout: 2 };
      const gw = await serve(
        {
          allowed: { ...base, subject: 'allowed' },
          denied: { ...base, subject: 'denied' },
          wrong: { ...base, subject: 'allowed', password: 'wrong-secret' },
          plain: { ...base, subject: 'allowed', allow_plaintext: false },
        },
        { env: { SECRET: 'pass-secret' } },
      );
      const stream = await open(gw, 'allowed');
      const statuses: number[] = [stream.status];
      for (const name of ['denied', 'wrong', 'plain', 'allowed']) statuses.push((await open(gw, name)).status);
      expect(statuses).toEqual([200, 502, 502, 502, 200]);
      const nats = await connectNats(server.url, { user: 'gw', pass: 'pass-secret' });
      nats.publish('allowed', 'for those who may');
      await nats.flush();
      await stream.until(1);
      await nats.close();
      for (const each of ['pass-secret', 'wrong-secret']) expect(JSON.stringify(gw.log)).not.toContain(each);
    });

    it('goes on where it was when the server is killed and comes back, while clients stay and others resume', async () => {
      const server = await startNats();
      const first = await connectNats(server.url);
      await (await jetstreamManager(first)).streams.add({ name: 'orders', subjects: ['orders'] });
      await first.close();
      const gw = await serve({ orders: { url: server.url, subject: 'orders' } });
      const stayed = await open(gw, 'orders');
      await eventually(() => expect(stayed.lastId).toBe('0'));
      const put = async (values: readonly string[]) => {
        const nats = await connectNats(server.url);
        const js = jetstream(nats);
        for (const value of values) await js.publish('orders', value);
        await nats.close();
      };
      const values = Array.from({ length: 6 }, (_, round) => Array.from({ length: 50 }, (_, i) => `${round}/${i}`));
      for (let round = 0; round < 6; round += 2) {
        await put(values[round] ?? []);
        await server.kill();
        const resuming = open(gw, 'orders', { headers: { 'last-event-id': '0' } });
        await server.up();
        await put(values[round + 1] ?? []);
        await resuming;
      }
      expect((await stayed.until(300)).map(({ data }) => data)).toEqual(values.flat());
      expect(stayed.end).toBe(null);
      const resumed = await open(gw, 'orders', { headers: { 'last-event-id': '120' } });
      expect((await resumed.until(180)).map(({ data }) => data)).toEqual(values.flat().slice(120));
    });

    it('keeps its clients while the server hangs, and tells new ones in time', async () => {
      const server = await startNats();
      const { url } = server;
      const gw = await serve({ orders: { url, subject: 'a' }, others: { url, subject: 'b', timeout: 1 } });
      const stream = await open(gw, 'orders');
      expect(stream.status).toBe(200);
      server.hang();
      expect([502, 504]).toContain((await open(gw, 'others')).status);
      server.goOn();
      const nats = await connectNats(server.url);
      await eventually(async () => {
        nats.publish('a', 'later');
        await nats.flush();
        expect(stream.events.length).toBeGreaterThan(0);
      });
      await nats.close();
    });
  },
);
