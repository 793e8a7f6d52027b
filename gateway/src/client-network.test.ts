import { describe, expect, it } from 'vitest';
import { clientNetwork, siteOf } from './client-network.ts';

describe('the network of a client', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['64:ff9b::192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
    ['not an address', 'not an address'],
  ])('of %s is %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });
});

describe('the site of a network', () => {
  it.each([
    ['2001:db8:1:2::/64', '2001:db8:1'],
    ['2001:db8:1:ffff::/64', '2001:db8:1'],
    ['192.0.2.1', '192.0.2.1'],
    ['a project', 'a project'],
  ])('of %s is %s', (network, site) => {
    expect(siteOf(network)).toBe(site);
  });
});
