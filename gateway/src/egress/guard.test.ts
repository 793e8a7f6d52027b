import { createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ConnectTimeout, createConnector, EgressRefused } from './connector.ts';
import { EgressGuard } from './guard.ts';
import { NameLookups } from './name-lookups.ts';

const closed = new EgressGuard({ allowInternal: false, allow: [] });

// docs/reference/gateway.md#egress, docs/decisions.md#egress-allow
describe('egress guard', () => {
  it.each([
    '127.0.0.1',
    '127.8.8.8',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '168.63.129.16',
    '192.0.0.192',
    '100.100.100.200',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00:ec2::254',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    'ff02::1',
    // Metadata services: AWS (also for tasks and pods), Google, OpenStack and most others; Tencent.
    '169.254.170.2',
    '169.254.170.23',
    'fd00:ec2::23',
    'fd20:ce::254',
    '169.254.0.23',
    // IPv4 in IPv6, whatever it embeds: NAT64 (well-known and local), 6to4, Teredo, SIIT, compatible, ISATAP.
    '64:ff9b::808:808',
    '64:ff9b:1::a00:1',
    '2002:808:808::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '::ffff:0:7f00:1',
    '::7f00:1',
    '::127.0.0.1',
    '2606:2800:220:1:0:5efe:a00:1',
    '2606:2800:220:1:200:5efe:a00:1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    // Special purposes (RFC 6890): not what an upstream would be.
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '0.1.2.3',
    'fec0::1',
    '100::1',
    '2001:2::1',
    '2001:db8::1',
    '3fff::1',
    '4000::1',
    'fe80::1%eth0',
    '127.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '2130706433',
    'nonsense',
    '',
  ])('refuses %s', (address) => {
    expect(closed.permits('example.org', address)).toBe(false);
  });

  it.each(['93.184.216.34', '2606:2800:220:1::1', '::ffff:8.8.8.8'])('permits %s', (address) => {
    expect(closed.permits('example.org', address)).toBe(true);
  });

  it('opens for what is named: ranges, hosts, suffixes', () => {
    const guard = new EgressGuard({
      allowInternal: false,
      allow: ['10.0.0.0/8', 'db.internal', '*.svc.cluster.local'],
    });
    expect(guard.permits('x', '10.9.9.9')).toBe(true);
    expect(guard.permits('x', '192.168.0.1')).toBe(false);
    expect(guard.permits('DB.internal', '192.168.0.1')).toBe(true);
    expect(guard.permits('a.b.svc.cluster.local', '172.16.0.9')).toBe(true);
    expect(guard.permits('svc.cluster.local.evil.org', '172.16.0.9')).toBe(false);
  });

  it('is off with allowInternal, and refuses entries that are nothing', () => {
    expect(new EgressGuard({ allowInternal: true, allow: [] }).permits('x', '127.0.0.1')).toBe(true);
    expect(() => new EgressGuard({ allowInternal: false, allow: ['a b'] })).toThrow('--egress-allow: "a b"');
  });
});

// docs/reference/gateway.md#egress: no second DNS resolution
describe('names', () => {
  /** A server on all addresses of this machine; what it accepted, by the address that was dialled. */
  async function listening() {
    const accepted: string[] = [];
    const server = createServer((socket) => {
      accepted.push(socket.localAddress ?? '');
      socket.on('error', () => {}).destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const address = server.address();
    return { accepted, port: String(typeof address === 'object' ? address?.port : 0), close: () => server.close() };
  }

  type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  function dial(port: string, allow: readonly string[], resolve: Resolve) {
    const guard = new EgressGuard({ allowInternal: false, allow });
    const connector = createConnector({ guard, timeoutMs: 300, resolve });
    return new Promise<Error | Socket | null>((done) =>
      connector({ hostname: 'upstream.example', port, protocol: 'http:' }, (...[error, socket]) =>
        done(error ?? socket),
      ),
    );
  }

  it('refuses a name of which one answer is private, before it connects to any', async () => {
    const { accepted, port, close } = await listening();
    for (const answers of [
      ['127.0.0.2', '10.0.0.1'],
      ['127.0.0.2', '::ffff:10.0.0.1'],
      ['127.0.0.2', '::1'],
    ]) {
      const refused = await dial(port, ['127.0.0.2'], async () => answers);
      expect(refused).toBeInstanceOf(EgressRefused);
      // Whoever writes a name into a manifest reads this in its status.
      expect(String(refused)).not.toContain(answers[1]);
    }
    close();
    expect(accepted).toEqual([]);
  });

  it('connects to the address that was vetted, and asks for it once: an answer that changes is of no use', async () => {
    const { accepted, port, close } = await listening();
    let asked = 0;
    const socket = await dial(port, ['127.0.0.2'], async () => (asked++ === 0 ? ['127.0.0.2'] : ['127.0.0.1']));
    expect(asked).toBe(1);
    if (!socket || socket instanceof Error) throw new Error('not connected', { cause: socket });
    expect(socket.remoteAddress).toBe('127.0.0.2');
    await new Promise((resolve) => socket.once('close', resolve).resume());
    // The next connection is vetted anew.
    expect(await dial(port, ['127.0.0.2'], async () => (asked++ === 0 ? ['127.0.0.2'] : ['127.0.0.1']))).toBeInstanceOf(
      EgressRefused,
    );
    close();
    expect(accepted).toEqual(['127.0.0.2']);
  });

  it('goes on to the next answer where one does not connect', async () => {
    const { port, close } = await listening();
    const socket = await dial(port, ['127.0.0.0/8', '::1'], async () => ['::1', '127.0.0.3']);
    close();
    if (!socket || socket instanceof Error) throw new Error('not connected', { cause: socket });
    expect(socket.remoteAddress).toBe('127.0.0.3');
    socket.destroy();
  });

  it('does not wait longer for an answer than for a connection, and says that a name has none', async () => {
    const silent = new NameLookups({ places: 1, lookup: () => new Promise(() => {}), now: () => 0 });
    const resolve: Resolve = (...given) => silent.addresses(...given);
    expect(await dial('1', [], resolve)).toBeInstanceOf(ConnectTimeout);
    expect(await dial('1', [], async () => [])).toMatchObject({ message: 'upstream.example has no address' });
  });
});

describe('connector', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1'])(
    'refuses %s before it connects',
    async (hostname) => {
      const accepted: string[] = [];
      const server = createServer((socket) => {
        accepted.push(hostname);
        socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(0, resolve));
      const address = server.address();
      const port = String(typeof address === 'object' ? address?.port : 0);
      const connector = createConnector({ guard: closed, timeoutMs: 2000 });
      const error = await new Promise((resolve) =>
        connector({ hostname, port, protocol: 'http:' }, (...[failure]: [unknown, unknown]) => resolve(failure)),
      );
      server.close();
      expect(error).toBeInstanceOf(EgressRefused);
      expect(accepted).toEqual([]);
    },
  );

  it('connects where the guard is opened for the address', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = String(typeof address === 'object' ? address?.port : 0);
    const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
    const connector = createConnector({ guard, timeoutMs: 2000 });
    const socket = await new Promise<Socket | null>((resolve) =>
      connector({ hostname: '127.0.0.1', port, protocol: 'http:' }, (...[, made]: [unknown, Socket | null]) =>
        resolve(made),
      ),
    );
    expect(socket?.remotePort).toBe(Number(port));
    socket?.destroy();
    server.close();
  });
});
