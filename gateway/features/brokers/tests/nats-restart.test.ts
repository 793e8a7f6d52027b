/** subject-publish with servers of its own: credentials, TLS, servers that are killed and that hang. */
import { dirname, join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { nkeys } from '@nats-io/nats-core/internal';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { connect as connectNats } from '../../../../test/serve/nats-client.ts';
import { Scrape } from '../../../../test/serve/scrape.ts';
import {
  expectTimeoutsThenOpenCircuit,
  post,
  type SendingSetup,
  serveSending,
} from '../../../../test/serve/sending.ts';
import { jwtServer } from './nats-credentials.ts';
import { NatsServer, NO_NATS_SERVER } from './nats-server.ts';
import { publishUnderKills } from './publish-under-kills.ts';

const { TLS_DIR = '' } = process.env;
const BUSY = 'gw_plugin_instances_busy';
const JSON_POST = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startNats(config?: string): Promise<NatsServer> {
  const server = await NatsServer.start(config);
  closing.push(() => server.close());
  return server;
}

async function serve(configs: Readonly<Record<string, object>>, setup?: SendingSetup): Promise<Gateway> {
  const gw = await serveSending('subject-publish', configs, setup);
  closing.push(() => gw.stop());
  return gw;
}

describe.skipIf(NO_NATS_SERVER)(
  'subject-publish with its own nats-server (needs GW_NATS_SERVER, or nats-server)',
  () => {
    const nkey = nkeys.createUser();
    const seed = new TextDecoder().decode(nkey.getSeed());
    const jwt = jwtServer();

    it.each([
      [
        'a password',
        'authorization { user: gw, password: "pass-secret" }',
        { user: 'gw', password: 'env://SECRET' },
        'pass-secret',
        'wrong-secret',
      ],
      ['a token', 'authorization { token: "token-secret" }', { token: 'env://SECRET' }, 'token-secret', 'wrong-secret'],
      [
        'an NKey',
        `authorization { users: [{ nkey: ${nkey.getPublicKey()} }] }`,
        { nkey_seed: 'env://SECRET' },
        seed,
        new TextDecoder().decode(nkeys.createUser().getSeed()),
      ],
      ['a JWT', jwt.config, { credentials: 'env://SECRET' }, jwt.creds, jwtServer().creds],
    ])('identifies itself by %s, and says nothing of it', async (_, config, credentials, right, wrong) => {
      const { url } = await startNats(config);
      const base = { url, subject: 'orders', allow_plaintext: true, timeout: 3 };
      const known = await serve({ a: { ...base, ...credentials } }, { env: { SECRET: right } });
      expect((await post(known, 'a', '{}')).status).toBe(202);
      const unknown = await serve({ a: { ...base, ...credentials }, b: base }, { env: { SECRET: wrong } });
      const refused = await post(unknown, 'a', '{}');
      expect([refused.status, (await post(unknown, 'b', '{}')).status]).toEqual([502, 502]);
      const secrets = [right, wrong].map((each) => each.split('\n').find((line) => line.length > 40) ?? each);
      const said = JSON.stringify([known.log, unknown.log, await refused.text()]);
      for (const secret of secrets) expect(said).not.toContain(secret);
    });

    it('sends no password in the clear unless it may', async () => {
      const { url } = await startNats('authorization { user: gw, password: "pass-secret" }');
      const gw = await serve({ a: { url, subject: 'orders', user: 'gw', password: 'pass-secret' } });
      expect((await post(gw, 'a', '{}')).status).toBe(502);
      await gw.logged(({ level, msg }) => level === 'error' && msg.includes('plaintext_refused'));
    });

    it.skipIf(TLS_DIR === '')('speaks TLS, with a certificate of its own where asked (needs TLS_DIR)', async () => {
      const file = (name: string) => join(TLS_DIR, name);
      const tls = `tls { cert_file: "${file('server.crt')}", key_file: "${file('server.key')}", ca_file: "${file('ca.crt')}", verify: true }`;
      const { url } = await startNats(`${tls}\nauthorization { user: gw, password: "pass-secret" }`);
      const base = {
        url: url.replace('nats:', 'tls:'),
        subject: 'orders',
        user: 'gw',
        password: 'pass-secret',
        timeout: 3,
      };
      const own = { client_cert: file('client.crt'), client_key: file('client.key') };
      const gw = await serve(
        {
          both: { ...base, tls: { ca: file('ca.crt'), ...own } },
          upgraded: { ...base, url, tls: { ca: file('ca.crt'), ...own } },
          stranger: { ...base, tls: own },
          nobody: { ...base, tls: { ca: file('ca.crt') } },
        },
        { env: { GW_SECRETS_DIR: dirname(file('ca.crt')) } },
      );
      const statuses: number[] = [];
      for (const name of ['both', 'upgraded', 'stranger', 'nobody']) statuses.push((await post(gw, name, '{}')).status);
      expect(statuses).toEqual([202, 202, 502, 502]);
    });

    it('says 502 where publishing is not permitted', async () => {
      const server = await startNats(
        'authorization { users: [{ user: gw, password: p, permissions: { publish: ["allowed"] } }] }',
      );
      const base = { url: server.url, user: 'gw', password: 'p', allow_plaintext: true, acknowledgement: 'none' };
      const gw = await serve({ a: { ...base, subject: 'allowed' }, b: { ...base, subject: 'denied' } });
      const all = await Promise.all(Array.from({ length: 20 }, (_, i) => post(gw, i % 2 ? 'b' : 'a', '{}')));
      expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, (_, i) => (i % 2 ? 502 : 202)));
    });

    it('has in the stream what got 202, each once, while the server is killed again and again', async () => {
      const server = await startNats();
      const nats = await connectNats(server.url);
      await (await jetstreamManager(nats)).streams.add({ name: 'orders', subjects: ['orders'] });
      await nats.close();
      const config = { url: server.url, subject: 'orders', timeout: 5, idempotency: { window: 600 } };
      const gw = await serve({ a: config });
      const { accepted, statuses } = await publishUnderKills(gw, 'a', {
        rounds: 3,
        messages: 50,
        restart: async () => {
          await server.kill();
          await server.up();
        },
      });
      const reader = await connectNats(server.url);
      const manager = await jetstreamManager(reader);
      const { state } = await manager.streams.info('orders');
      const stored: string[] = [];
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        const message = await manager.streams.getMessage('orders', { seq });
        if (message) stored.push(message.string());
      }
      await reader.close();
      expect(stored.length).toBe(new Set(stored).size);
      expect([...accepted].filter((each) => !stored.includes(each))).toEqual([]);
      expect([...statuses.keys()].filter((each) => ![202, 409, 502, 503].includes(each))).toEqual([]);
    });

    it('answers within its time while the server hangs, and goes on when it does', async () => {
      const server = await startNats();
      const base = { url: server.url, subject: 'orders' };
      const gw = await serve({ a: { ...base, timeout: 0.5 }, patient: { ...base, timeout: 60 } });
      expect((await post(gw, 'patient', '{}')).status).toBe(202);
      server.hang();
      await expectTimeoutsThenOpenCircuit(gw, 'a');
      server.goOn();
      await eventually(async () => expect((await post(gw, 'patient', '{}')).status).toBe(202));
    });

    it('holds nothing for clients that leave while the server hangs', async () => {
      const server = await startNats();
      const gw = await serve({ a: { url: server.url, subject: 'orders', timeout: 30 } });
      expect((await post(gw, 'a', '{}')).status).toBe(202);
      const busy = async () => new Scrape(await (await fetch(`${gw.admin}/metrics`)).text()).value(BUSY);
      server.hang();
      const leaving = new AbortController();
      const all = Promise.allSettled(
        Array.from({ length: 30 }, () => fetch(`${gw.url}/a`, { ...JSON_POST, signal: leaving.signal })),
      );
      await eventually(async () => expect(await busy()).toBe(30));
      leaving.abort();
      await all;
      await eventually(async () => expect(await busy()).toBe(0));
      server.goOn();
      expect((await post(gw, 'a', '{}')).status).toBe(202);
    });
  },
);
