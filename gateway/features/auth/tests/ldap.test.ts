/** ldap-auth through a real `gw serve`, with a real directory. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { Redis } from 'iovalkey';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Gate } from '../../../../test/serve/gate.ts';
import { compileSpec, type Echo, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const {
  LDAP_URL = '',
  LDAPS_URL = '',
  LDAP_CA = '',
  LDAP_BIND_DN = '',
  LDAP_BIND_PASSWORD = '',
  REDIS_URL = '',
} = process.env;

let upstream: Upstream;
const gateways: Gateway[] = [];
beforeAll(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
});
afterAll(() => upstream?.close());

const directory = {
  url: LDAP_URL,
  bind_dn: LDAP_BIND_DN,
  bind_password: 'env://DIRECTORY_PASSWORD',
  user_base_dn: 'ou=people,dc=example,dc=org',
  allow_plaintext: true,
};

/** An operation for each config. */
async function serve(configs: Readonly<Record<string, object>>, ...args: string[]): Promise<Gateway> {
  const operation = (config: object) => ({
    get: {
      responses: { 200: { description: 'OK' } },
      security: [{ user: [] }],
      'x-gw-middlewares': [{ name: 'ldap-auth', config: { ...directory, ...config } }],
      'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
    },
  });
  const document = {
    openapi: '3.1.0',
    info: { title: 'Directory', version: '1' },
    components: { securitySchemes: { user: { type: 'http', scheme: 'basic' } } },
    paths: Object.fromEntries(Object.entries(configs).map(([path, config]) => [path, operation(config)])),
  };
  const gw = await startGateway(await compileSpec(document, ['ldap-auth', 'http-upstream']), {
    args,
    env: { DIRECTORY_PASSWORD: LDAP_BIND_PASSWORD, GW_SECRETS_DIR: dirname(LDAP_CA) },
  });
  gateways.push(gw);
  return gw;
}

function ask(gw: Gateway, path: string, name: string, password: string): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  return fetch(gw.url + path, { headers: { authorization, 'x-auth-consumer': 'root', 'x-auth-dn': 'cn=root' } });
}
async function status(gw: Gateway, path: string, name: string, password: string): Promise<number> {
  const response = await ask(gw, path, name, password);
  await response.arrayBuffer();
  return response.status;
}
async function identity(response: Response): Promise<Record<string, string>> {
  expect(response.status).toBe(200);
  const { headers } = await jsonOf<Echo>(response);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^(x-auth-|authorization)/.test(name)));
}

describe.skipIf(LDAP_URL === '')('ldap-auth (needs LDAP_URL)', () => {
  it('finds the user, binds as it, and says who it is and in which groups', async () => {
    const gw = await serve({
      '/plain': {},
      '/kept': { strip_credentials: false, group_name_from_dn: false },
      '/mail': { user_filter: '(mail={username}@example.org)', user_attr: 'cn' },
      '/name': { user_filter: '(cn={username})', user_attr: 'sn' },
      '/search': {
        group_base_dn: 'ou=groups,dc=example,dc=org',
        group_filter: '(&(objectClass=groupOfNames)(member={dn}))',
      },
    });
    const alice = {
      'x-auth-consumer': 'alice',
      'x-auth-consumer-groups': 'admins,developers',
      'x-auth-user': 'alice',
      'x-auth-dn': 'uid=alice,ou=people,dc=example,dc=org',
    };
    expect(await identity(await ask(gw, '/plain', 'alice', 'alice-secret'))).toEqual(alice);
    expect(await identity(await ask(gw, '/search', 'alice', 'alice-secret'))).toEqual(alice);
    expect(await identity(await ask(gw, '/kept', 'bob', 'bob-secret'))).toEqual({
      authorization: `Basic ${Buffer.from('bob:bob-secret').toString('base64')}`,
      'x-auth-consumer': 'bob',
      'x-auth-consumer-groups': 'cn=developers%2Cou=groups%2Cdc=example%2Cdc=org',
      'x-auth-user': 'bob',
      'x-auth-dn': 'uid=bob,ou=people,dc=example,dc=org',
    });
    expect(await identity(await ask(gw, '/mail', 'alice', 'alice-secret'))).toMatchObject({
      'x-auth-consumer': 'Alice Adams',
      'x-auth-user': 'alice',
    });
    expect(await identity(await ask(gw, '/name', 'Eve Évesque', 'eve-secret'))).toMatchObject({
      'x-auth-consumer': '%C3%89vesque',
      'x-auth-user': 'Eve %C3%89vesque',
      'x-auth-dn': expect.stringMatching(/^uid=eve\\2C \(ops\)\*,ou=people/),
    });
    const eve = await identity(await ask(gw, '/search', 'eve, (ops)*', 'eve-secret'));
    expect(eve).toMatchObject({ 'x-auth-consumer': 'eve, (ops)*', 'x-auth-consumer-groups': 'developers' });
  });

  it('answers the same to a wrong password, a name that nobody has, and every name that is more than one', async () => {
    const gw = await serve({ '/a': { cache_ttl_seconds: 0 } });
    const wrong = await ask(gw, '/a', 'alice', 'wrong');
    const said = await wrong.json();
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="api"']);
    expect(said).toEqual({
      type: 'urn:gw:error:authentication-failed',
      title: 'Authentication failed',
      status: 401,
      detail: 'Invalid username or password',
    });
    const names = [
      ...['nobody', '*', 'a*', 'alice*', 'ali\\63e', 'alice)(uid=*', '*)(uid=*))(|(uid=*', 'alice)(|(password=*)'],
      ...[
        '(',
        ')',
        '\\',
        '\\2a',
        'alice,ou=people',
        'alice\\',
        '\u2028',
        'al\u00efce',
        '\u{1f600}',
        'eve, (ops)',
        'e*',
      ],
      ...['x'.repeat(1025), 'x'.repeat(1024), ' '],
    ];
    for (const name of names) {
      const response = await ask(gw, '/a', name, 'alice-secret');
      expect([name, response.status, await response.json()]).toEqual([name, 401, said]);
    }
    expect(await status(gw, '/a', 'alice\0', 'alice-secret')).toBe(401);
    expect(await status(gw, '/a', 'alice', 'alice-secret')).toBe(200);
  });

  it('binds as often, and as entries that are there, for a wrong password and a name that nobody has', async () => {
    const gate = new Gate(LDAP_URL);
    const bound: string[] = [];
    // A BindRequest has its version, 3, and then a name (RFC 4511, section 4.2), of a length of one byte here.
    gate.tap = (chunk) => {
      const at = chunk.indexOf(Buffer.from([2, 1, 3, 4]));
      if (at >= 0) bound.push(chunk.subarray(at + 5, at + 5 + (chunk[at + 4] ?? 0)).toString());
    };
    await gate.open();
    const gw = await serve({ '/a': { url: gate.url, cache_ttl_seconds: 0 } });
    const binds = async (name: string) => {
      bound.length = 0;
      expect(await status(gw, '/a', name, 'wrong')).toBe(401);
      return [...bound];
    };
    // The service account's connection is there then.
    await binds('alice');
    const alice = 'uid=alice,ou=people,dc=example,dc=org';
    expect([await binds('alice'), await binds('nobody')]).toEqual([[alice], [LDAP_BIND_DN]]);
    expect((await binds('*')).length).toBe(1);
    await gate.close();
  });

  it('finds nobody where a filter finds several', async () => {
    const gw = await serve({ '/a': { user_filter: '(|(uid={username})(uid=bob))' } });
    expect(await status(gw, '/a', 'bob', 'bob-secret')).toBe(200);
    expect(await status(gw, '/a', 'alice', 'alice-secret')).toBe(401);
    await gw.logged(({ msg }) => msg.startsWith('ambiguous_user'));
  });

  it('never asks about an empty password', async () => {
    const gate = new Gate(LDAP_URL);
    await gate.open();
    const gw = await serve({ '/a': { url: gate.url } });
    for (const [name, password] of [
      ['alice', ''],
      ['', 'x'],
      ['', ''],
    ] as const) {
      expect(await status(gw, '/a', name, password)).toBe(401);
    }
    expect(gate.accepted).toBe(0);
    await gate.close();
  });

  it('lets in who is in any of the required groups, and answers 403 to others', async () => {
    const gw = await serve({ '/admins': { required_groups: ['admins', 'root'] } });
    expect(await status(gw, '/admins', 'alice', 'alice-secret')).toBe(200);
    const bob = await ask(gw, '/admins', 'bob', 'bob-secret');
    expect(bob.status).toBe(403);
    expect(await bob.json()).toMatchObject({ type: 'urn:gw:error:forbidden', title: 'Forbidden', status: 403 });
    expect(await status(gw, '/admins', 'bob', 'wrong')).toBe(401);
  });

  it('speaks TLS by StartTLS and by ldaps://, and refuses certificates that it does not know', async () => {
    const tls = { ca: LDAP_CA };
    const gw = await serve({
      '/starttls': { starttls: true, allow_plaintext: false, tls },
      '/ldaps': { url: LDAPS_URL, allow_plaintext: false, tls },
      '/stranger': { url: LDAPS_URL },
      '/stranger-starttls': { starttls: true },
    });
    for (const path of ['/starttls', '/ldaps']) {
      expect([path, await status(gw, path, 'alice', 'alice-secret')]).toEqual([path, 200]);
      expect([path, await status(gw, path, 'alice', 'wrong')]).toEqual([path, 401]);
    }
    for (const path of ['/stranger', '/stranger-starttls']) {
      expect([path, await status(gw, path, 'alice', 'alice-secret')]).toEqual([path, 503]);
    }
  });

  it('sends no password in the clear, and says so in its log', async () => {
    const gate = new Gate(LDAP_URL);
    await gate.open();
    const gw = await serve({ '/a': { url: gate.url, allow_plaintext: false } });
    const refused = await ask(gw, '/a', 'alice', 'alice-secret');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ type: 'urn:gw:error:ldap-unavailable', status: 503 });
    await gw.logged(({ level, msg }) => level === 'error' && msg.includes('plaintext_refused'));
    expect(gate.accepted).toBe(0);
    await gate.close();
  });

  it('remembers verdicts, good and bad, while the directory is away; failures are not remembered', async () => {
    const gate = new Gate(LDAP_URL);
    await gate.open();
    const url = gate.url;
    const gw = await serve({ '/kept': { url }, '/fresh': { url, cache_ttl_seconds: 0 } });
    const both = async (path: string) => [
      await status(gw, path, 'alice', 'alice-secret'),
      await status(gw, path, 'alice', 'wrong'),
    ];
    expect(await both('/kept')).toEqual([200, 401]);
    expect(await both('/fresh')).toEqual([200, 401]);
    await gate.close();
    expect(await both('/kept')).toEqual([200, 401]);
    expect(await both('/fresh')).toEqual([503, 503]);
    expect(await status(gw, '/kept', 'bob', 'bob-secret')).toBe(503);
    await gate.open();
    expect(await both('/fresh')).toEqual([200, 401]);
    expect(await status(gw, '/kept', 'bob', 'bob-secret')).toBe(200);
    const levels = () => gw.log.filter(({ msg }) => msg.startsWith('directory ')).map(({ level }) => level);
    await expect.poll(() => levels().sort()).toEqual(['error', 'error', 'info', 'info']);
    expect(JSON.stringify(gw.log)).not.toMatch(/-secret/);
  });

  it('asks once where many ask the same at once, and keeps its connection for searches', async () => {
    const gate = new Gate(LDAP_URL);
    await gate.open();
    const gw = await serve({ '/a': { url: gate.url } });
    const all = await Promise.all(Array.from({ length: 50 }, () => status(gw, '/a', 'alice', 'alice-secret')));
    expect(new Set(all)).toEqual(new Set([200]));
    // One for searches, and one for the bind.
    expect(gate.accepted).toBe(2);
    expect(await status(gw, '/a', 'bob', 'bob-secret')).toBe(200);
    expect(gate.accepted).toBe(3);
    await gate.close();
  });

  it('gives up in its time where the directory is silent, and serves others meanwhile', async () => {
    const gate = new Gate(LDAP_URL);
    await gate.open();
    gate.silent = true;
    const gw = await serve({ '/slow': { url: gate.url, timeout: 0.5 }, '/other': {} });
    const slow = status(gw, '/slow', 'alice', 'alice-secret');
    expect(await status(gw, '/other', 'alice', 'alice-secret')).toBe(200);
    expect(await slow).toBe(503);
    gate.silent = false;
    expect(await status(gw, '/slow', 'alice', 'alice-secret')).toBe(200);
    await gate.close();
  });

  it('answers 503 where the service account is refused, or the base does not exist', async () => {
    const gw = await serve({
      '/account': { bind_password: 'wrong' },
      '/anonymous': { bind_dn: '', bind_password: '' },
      '/base': { user_base_dn: 'ou=nowhere,dc=example,dc=org' },
    });
    for (const path of ['/account', '/base']) {
      expect([path, await status(gw, path, 'alice', 'alice-secret')]).toEqual([path, 503]);
    }
    // This directory shows nothing to strangers: not that anybody is there.
    expect([401, 503]).toContain(await status(gw, '/anonymous', 'alice', 'alice-secret'));
    await gw.logged(({ msg }) => msg.includes('service_bind_refused'));
  });

  it.skipIf(REDIS_URL === '')(
    'shares verdicts by --state, which holds no name and no password (needs REDIS_URL)',
    async () => {
      const gate = new Gate(LDAP_URL);
      await gate.open();
      const configs = { '/a': { url: gate.url } };
      const first = await serve(configs, '--state', REDIS_URL);
      expect(await status(first, '/a', 'alice', 'alice-secret')).toBe(200);
      expect(await status(first, '/a', 'bob', 'alice-secret')).toBe(401);
      await gate.close();
      const second = await serve(configs, '--state', REDIS_URL, '--workers', '2');
      expect(await identity(await ask(second, '/a', 'alice', 'alice-secret'))).toMatchObject({
        'x-auth-consumer': 'alice',
        'x-auth-consumer-groups': 'admins,developers',
      });
      expect(await status(second, '/a', 'bob', 'alice-secret')).toBe(401);

      const redis = new Redis(REDIS_URL);
      const keys = await redis.keys('*directory:*');
      expect(keys.length).toBeGreaterThanOrEqual(2);
      for (const key of keys) {
        const kept = key + (await redis.getBuffer(key))?.toString('latin1');
        expect(kept).not.toMatch(/alice|bob|secret|dc=example/);
      }
      // What somebody else puts there is no verdict: not even one that was made for another name.
      const values = await Promise.all(keys.map((key) => redis.getBuffer(key)));
      await Promise.all(keys.map((key, i) => redis.set(key, values[(i + 1) % keys.length] ?? '')));
      expect(await status(second, '/a', 'bob', 'alice-secret')).toBe(503);
      await redis.del(...keys);
      redis.disconnect();
    },
  );

  it('keeps to the egress guard', async () => {
    const gw = await serve({ '/a': { url: LDAP_URL.replace('127.0.0.1', '127.0.0.2') } });
    expect(await status(gw, '/a', 'alice', 'alice-secret')).toBe(503);
    await gw.logged(({ msg }) => msg.includes('egress to it is not allowed'));
  });

  describe('what is no directory', () => {
    const servers: Server[] = [];
    afterEach(() => {
      for (const server of servers.splice(0)) server.close();
    });
    async function fake(answer: (socket: Socket) => void): Promise<string> {
      const server = createServer((socket) => answer(socket.on('error', () => {})));
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }
    const junk: readonly [string, (socket: Socket) => void][] = [
      ['speaks HTTP', (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))],
      ['hangs up', (socket) => socket.destroy()],
      ['hangs up when it is asked', (socket) => socket.once('data', () => socket.destroy())],
      ['announces 2 GiB', (socket) => socket.once('data', () => socket.write(Buffer.from('30847fffffff0201', 'hex')))],
      ['sends zeros without end', (socket) => flood(socket, Buffer.alloc(65_536))],
      ['sends 30 80 without end', (socket) => flood(socket, Buffer.alloc(65_536, Buffer.from('3080', 'hex')))],
      ['answers another question', (socket) => socket.once('data', () => socket.write(success(77)))],
    ];
    it.each(junk)('%s: 503, and the gateway goes on', async (_what, answer) => {
      const url = await fake(answer);
      const gw = await serve({ '/a': { url, timeout: 0.5 }, '/tls': { url, timeout: 0.5, starttls: true }, '/ok': {} });
      expect(await status(gw, '/a', 'alice', 'alice-secret')).toBe(503);
      expect(await status(gw, '/tls', 'alice', 'alice-secret')).toBe(503);
      expect(await status(gw, '/ok', 'alice', 'alice-secret')).toBe(200);
    });

    it('puts an answer in the clear behind that to StartTLS: nothing of it counts', async () => {
      // LDAPResult success of an ExtendedResponse, and a BindResponse behind it.
      const started = Buffer.from('300c02010178070a010004000400', 'hex');
      const url = await fake((socket) => socket.once('data', () => socket.write(Buffer.concat([started, success(2)]))));
      const gw = await serve({ '/a': { url, timeout: 0.5, starttls: true } });
      expect(await status(gw, '/a', 'alice', 'alice-secret')).toBe(503);
      await gw.logged(({ msg }) => msg.includes('the answer to StartTLS is not LDAP'));
    });
  });
});

/** A BindResponse that says success. */
function success(id: number): Buffer {
  return Buffer.from([0x30, 0x0c, 0x02, 0x01, id, 0x61, 0x07, 0x0a, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00]);
}

function flood(socket: Socket, piece: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece)) {}
  };
  socket.on('drain', more);
  socket.once('data', more);
}
