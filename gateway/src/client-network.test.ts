import { describe, expect, it } from 'vitest';
import { clientNetwork, clientSite } from './client-network.ts';

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

  it('belongs to the site that may have been given it', () => {
    expect(clientSite(clientNetwork('2001:db8:1:2::1'))).toBe('2001:db8:1::/48');
    expect(clientSite(clientNetwork('::ffff:192.0.2.1'))).toBe('192.0.2.1');
  });
});
