import { BlockList } from 'node:net';
import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const passes = async (config: { allow?: string[]; deny?: string[] }, clientIp: string) =>
  (await kit.onRequest({ config, clientIp })).outcome === 'continue';

describe('ip-restriction', () => {
  it('passes everybody by default', async () => {
    expect(await passes({}, '192.0.2.1')).toBe(true);
    expect(await passes({}, '')).toBe(true);
  });

  it('passes only what allow has, where it has anything', async () => {
    const config = { allow: ['192.0.2.7', '10.0.0.0/8', '2001:db8::/32'] };
    for (const ip of ['192.0.2.7', '10.255.0.1', '2001:db8:1::5']) expect(await passes(config, ip)).toBe(true);
    for (const ip of ['192.0.2.8', '11.0.0.1', '2001:db9::5', '::1']) expect(await passes(config, ip)).toBe(false);
  });

  it('refuses what deny has, also where allow has it', async () => {
    expect(await passes({ deny: ['10.0.0.0/8'] }, '10.1.2.3')).toBe(false);
    expect(await passes({ deny: ['10.0.0.0/8'] }, '11.1.2.3')).toBe(true);
    expect(await passes({ allow: ['10.0.0.0/8'], deny: ['10.1.0.0/16'] }, '10.1.2.3')).toBe(false);
    expect(await passes({ allow: ['10.0.0.0/8'], deny: ['10.1.0.0/16'] }, '10.2.2.3')).toBe(true);
  });

  it('answers with the problem of the reference, and the address', async () => {
    const { answer, problem } = await kit.onRequest({ config: { deny: ['192.0.2.1'] } });
    expect(answer?.status).toBe(403);
    expect(problem).toEqual({
      type: 'urn:gw:error:ip-restricted',
      title: 'Forbidden',
      status: 403,
      detail: 'Access denied',
      client_ip: '192.0.2.1',
    });
  });

  it('takes status and message from its config', async () => {
    const config = { deny: ['192.0.2.1'], status: 404, message: 'Nothing "here"' };
    const { answer, problem } = await kit.onRequest({ config });
    expect(answer?.status).toBe(404);
    expect(problem).toMatchObject({ status: 404, detail: 'Nothing "here"', title: 'Forbidden' });
  });

  it('goes by the address that the gateway found, whatever headers say', async () => {
    const headers = { 'x-forwarded-for': '10.0.0.1', 'x-real-ip': '10.0.0.1', forwarded: 'for=10.0.0.1' };
    const result = await kit.onRequest({ config: { allow: ['10.0.0.0/8'] }, headers, clientIp: '192.0.2.1' });
    expect(result.problem).toMatchObject({ client_ip: '192.0.2.1' });
  });

  it.each([
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '::ffff:a01:203', true],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['::ffff:10.1.2.3', '10.1.2.3', true],
    ['::ffff:0:0/96', '10.1.2.3', true],
    ['0.0.0.0/0', '::ffff:10.1.2.3', true],
    ['::/0', '10.1.2.3', false],
    ['::/0', '::ffff:10.1.2.3', false],
    ['::ffff:0:0/95', '10.1.2.3', false],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::10.1.2.3', '10.1.2.3', false],
    ['10.1.2.3/32', '10.1.2.3', true],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['2001:DB8::A', '2001:db8:0:0::a', true],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0', true],
    ['2001:db8::/65', '2001:db8:0:0:7fff::', true],
    ['2001:db8::/65', '2001:db8:0:0:8000::', false],
  ])('with %s allowed, %s is %s', async (range, client, is) => {
    expect(await passes({ allow: [range] }, client)).toBe(is);
  });

  it('refuses a client without an address as soon as there is a rule', async () => {
    for (const ip of ['', 'unix:', '300.1.1.1']) {
      expect(await passes({ deny: ['10.0.0.0/8'] }, ip)).toBe(false);
      expect(await passes({ allow: ['0.0.0.0/0', '::/0'] }, ip)).toBe(false);
    }
  });

  it('agrees with the block list of Node.js', async () => {
    const v4 = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }));
    const v6 = fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 }));
    await fc.assert(
      fc.asyncProperty(fc.oneof(v4, v6), fc.oneof(fc.ipV4(), fc.ipV6()), fc.boolean(), async (range, other, near) => {
        const [base, bits] = range;
        const client = near ? base : other;
        const family = (ip: string) => (ip.includes(':') ? 'ipv6' : 'ipv4');
        const list = new BlockList();
        list.addSubnet(base, bits, family(base));
        // Mapped addresses are IPv4 here, and random ones are none.
        fc.pre(!/^(0*:)*:?(0*:)*ffff:/i.test(base) && !/^(0*:)*:?(0*:)*ffff:/i.test(client));
        const denied = family(base) === family(client) && list.check(client, family(client));
        expect(await passes({ deny: [`${base}/${bits}`] }, client)).toBe(!denied);
      }),
      propertyRuns(100),
    );
  });

  it('agrees with the block list of Node.js also where ranges hold others', async () => {
    // Few bits, so that ranges meet.
    const near = fc.integer({ min: 0, max: 7 }).map((n) => `10.0.0.${n}`);
    const ranges = fc.array(fc.tuple(near, fc.integer({ min: 28, max: 32 })), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(ranges, near, async (denied, client) => {
        const list = new BlockList();
        for (const [base, bits] of denied) list.addSubnet(base, bits);
        expect(await passes({ deny: denied.map(([base, bits]) => `${base}/${bits}`) }, client)).toBe(
          !list.check(client),
        );
      }),
      propertyRuns(200),
    );
  });

  it('holds 10,000 ranges, in any order', async () => {
    const deny = Array.from({ length: 10_000 }, (_, i) => `2001:db8:${i.toString(16)}::/48`);
    expect(await passes({ deny }, '2001:db8:270f::1')).toBe(false);
    expect(await passes({ deny }, '2001:db8:2710::1')).toBe(true);
    expect(await passes({ deny: deny.reverse() }, '2001:db8:1a::1')).toBe(false);
  });

  it('refuses at the start what the schema cannot see, and names the property', async () => {
    // What a secret reference stands for is not known before; here it stands for itself.
    await expect(kit.bind({ deny: ['10.0.0.0/8', 'env://RANGE'] })).rejects.toThrow(
      'rejects its config: deny/1 is neither an IP address nor a CIDR range',
    );
  });

  it.each([
    { allow: ['fe80::1%eth0'] },
    { allow: ['example.com'] },
    { allow: ['10.0.0.0/33'] },
    { allow: ['10.0.0/8'] },
    { allow: ['010.0.0.1'] },
    { allow: ['0x7f.0.0.1'] },
    { deny: ['::/129'] },
    { deny: ['10.0.0.0/'] },
    { deny: ['10.0.0.0/-1'] },
    { deny: ['1::2::3'] },
    { deny: [''] },
    { deny: '10.0.0.0/8' },
    { status: 200 },
    { status: '403' },
    { other: 1 },
  ])('refuses the config %j', async (bad) => {
    await expect(kit.bind(bad)).rejects.toThrow(/schema/);
  });
});
