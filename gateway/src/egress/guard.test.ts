import { createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createConnector, EgressRefused } from './connector.ts';
import { EgressGuard } from './guard.ts';

const closed = new EgressGuard({ allowInternal: false, allow: [] });

describe('egress guard (reference 1, section 8; D26)', () => {
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
    expect(() => new EgressGuard({ allowInternal: false, allow: ['a b'] })).toThrow('--egress-allow "a b"');
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
