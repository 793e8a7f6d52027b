import { expect, it } from 'vitest';
import { ClientAddress, parseCidr } from './client-ip.ts';

// docs/decisions.md#client-address
it.each([
  ['no trusted proxy: the connection', [], '10.0.0.1', ['x-forwarded-for', '1.2.3.4'], '10.0.0.1'],
  [
    'trusted: last hop that is none',
    ['10.0.0.0/8'],
    '10.0.0.1',
    ['x-forwarded-for', '6.6.6.6, 1.2.3.4, 10.0.0.9'],
    '1.2.3.4',
  ],
  [
    'several headers are one chain',
    ['10.0.0.0/8'],
    '10.0.0.1',
    ['x-forwarded-for', '1.1.1.1', 'x-forwarded-for', '2.2.2.2'],
    '2.2.2.2',
  ],
  ['all trusted: the farthest', ['10.0.0.0/8'], '10.0.0.1', ['x-forwarded-for', '10.0.0.3, 10.0.0.2'], '10.0.0.3'],
  ['rubbish ends the chain', ['10.0.0.0/8'], '10.0.0.1', ['x-forwarded-for', '1.2.3.4, x'], '10.0.0.1'],
  ['an octal address is none', ['10.0.0.0/8'], '10.0.0.1', ['x-forwarded-for', '010.1.1.1'], '10.0.0.1'],
  ['x-real-ip without a chain', ['10.0.0.0/8'], '10.0.0.1', ['x-real-ip', '1.2.3.4'], '1.2.3.4'],
  ['IPv6', ['fd00::/8'], 'fd00::1', ['x-forwarded-for', '2001:db8::1'], '2001:db8::1'],
  ['a port beside it', ['10.0.0.0/8'], '10.0.0.1', ['x-forwarded-for', '1.2.3.4:5678'], '1.2.3.4'],
  ['brackets', ['10.0.0.0/8'], '10.0.0.1', ['x-forwarded-for', '[2001:db8::1]:5678'], '2001:db8::1'],
  ['a port that is none', ['10.0.0.0/8'], '10.0.0.1', ['x-forwarded-for', '1.2.3.4:567890'], '10.0.0.1'],
  ['a zone that ipaddr.js does not read', ['10.0.0.0/8'], '10.0.0.1', ['x-forwarded-for', '::1%a.b'], '::1'],
  ['the same as x-real-ip', ['10.0.0.0/8'], '10.0.0.1', ['x-real-ip', 'fe80::1%eth0.100'], 'fe80::1'],
  ['a zone of the peer', ['fe80::/10'], 'fe80::1%br-lan', ['x-forwarded-for', '1.2.3.4'], '1.2.3.4'],
  ['mapped IPv4', ['10.0.0.0/8'], '10.0.0.1', ['x-forwarded-for', '::ffff:1.2.3.4'], '1.2.3.4'],
])('%s', (_name, trusted, peer, headers, client) => {
  expect(new ClientAddress(trusted).of(peer, headers)).toBe(client);
});

it('refuses what is no CIDR', () => {
  expect(() => parseCidr('10.0.0.0/99')).toThrow('neither an IP address nor a CIDR');
});
