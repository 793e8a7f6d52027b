import { expect, it } from 'vitest';
import { Schemas } from '../schemas/schemas.ts';

const STANDARD = [
  ...[
    'date',
    'time',
    'date-time',
    'duration',
    'uri',
    'uri-reference',
    'iri',
    'iri-reference',
    'uri-template',
    'url',
    'email',
    'hostname',
    'idn-email',
    'idn-hostname',
  ],
  ...['ipv4', 'ipv6', 'regex', 'uuid', 'json-pointer', 'relative-json-pointer', 'byte', 'base64url'],
];

it.each<[string, unknown, boolean]>([
  ['int32', 2_147_483_647, true],
  ['int32', 2_147_483_648, false],
  ['int32', 1.5, false],
  ['int64', 9_007_199_254_740_991, true],
  ['int64', 1e19, false],
  ['uint8', -1, false],
  ['uint64', 1e19, true],
  ['float', 1.5, true],
  ['byte', 'AAECAw==', true],
  ['byte', 'AAECAw=', false],
  ['byte', 'a\n!!', false],
  ['base64url', 'AAE-_w', true],
  ['base64url', 'A+', false],
  ['binary', '\0\xff', true],
  ['password', 'anything', true],
  ['date', '2026-02-30', false],
  ['date-time', '2026-02-28T10:00:00Z', true],
  ['date-time', '2026-02-28', false],
  ['date-time', '2026-02-28t10:00:00.5z', true],
  ['date-time', '2026-02-28T10:00:00+05:30', true],
  ['date-time', '2026-02-28T10:00:00+0530', false],
  ['date-time', '2026-02-28T10:00:00+01', false],
  ['date-time', '2026-02-28 10:00:00Z', false],
  ['date-time', '2026-02-28\n10:00:00Z', false],
  ['date-time', '2026-02-29T10:00:00Z', false],
  ['date-time', '1998-12-31T23:59:60Z', true],
  ['date-time', '1998-12-31T22:59:60Z', false],
  ['time', '10:00:00+01:00', true],
  ['time', '10:00:00+0100', false],
  ['time', '10:00:00', false],
  ['time', '15:59:60-08:00', true],
  ['hostname', 'xn--mnchen-3ya.example', true],
  ['hostname', 'xn--abc-.example', false],
  ['hostname', 'münchen.example', false],
  ['idn-hostname', 'münchen.example', true],
  ['idn-hostname', 'München.example', false],
  ['idn-hostname', 'mu\u0308nchen.example', false],
  ['idn-hostname', 'דוגמה.example', true],
  ['idn-hostname', 'דוגמה.1example', false],
  ['idn-hostname', `${'ü'.repeat(250)}`, false],
  ['idn-email', 'jürgen@münchen.example', true],
  ['idn-email', `${'ü'.repeat(33)}@b.example`, false],
  ['idn-email', 'a b@b.example', false],
  ['idn-email', '"a b"@b.example', true],
  ['idn-email', 'a@[127.0.0.1]', true],
  ['uuid', 'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6', false],
  ['email', 'a@b.example', true],
  ['email', 'a', false],
  ['email', 'root@localhost', true],
  ['email', '"joe @ home\\""@b.example', true],
  ['email', '""@b.example', true],
  ['email', '"a"b"@b.example', false],
  ['email', 'joe@[127.0.0.1]', true],
  ['email', 'joe@[IPv6:::1]', true],
  ['email', 'joe@[127.0.0.300]', false],
  ['email', 'joe@[IPv6:fe80::1%eth0]', false],
  ['email', 'joe@[::1]', false],
  ['email', '.joe@b.example', false],
  ['email', 'jo..e@b.example', false],
  ['email', 'joe@-b.example', false],
  ['email', 'joe@b.example.', false],
  ['email', 'joe@b_c.example', false],
  ['email', 'jöe@b.example', false],
  ['email', `${'a'.repeat(64)}@b.example`, true],
  ['email', `${'a'.repeat(65)}@b.example`, false],
  ['email', `a@${'b'.repeat(63)}.example`, true],
  ['email', `a@${'b'.repeat(64)}.example`, false],
  ['email', `a@${'b.'.repeat(126)}c`, false],
  ['uuid', '0af76519-16cd-43dd-8448-eb211c80319c', true],
  ['ipv4', '1.2.3.256', false],
  ['ipv6', '::1', true],
  ['uri', 'no scheme', false],
  ['url', 'https://user:secret@example.org:8443/a?b#c', true],
  ['url', 'mailto:a@b.example', false],
  ['url', 'http://a b', false],
  ['nobody-knows', 'anything', true],
  ['int32', 'not a number', true],
])('format %s: %j is %s', (format, value, valid) => {
  const validate = new Schemas({ s: { format } }, false).validator({ $ref: 'gw:s' });
  expect(validate(value) === null).toBe(valid);
});

/** What makes patterns slow that try one way after the other: a beginning, something again and again, and no fitting end. */
const BEGINNINGS = ['', 'http://', 'a@', '{', 'P', '/', '2026-02-28T'];
const REPEATED = ['a', 'a.', 'a-', '1', ':', '::', '%20', '@', '/', '~0', '{a}', '1D', '\\'];

/** Characters that several rules of internationalized names speak of. */
const INTERNATIONAL = [
  '\u0660',
  '\u05d0',
  '\u05d0\u05b0',
  '\u0628\u200c',
  '\u00fc',
  'l\u00b7',
  '\u30fb',
  '\u0915\u094d\u200d',
];

it('no format tries one way after the other: a name of 250 characters is judged', () => {
  for (const format of STANDARD) {
    const validate = new Schemas({ s: { type: 'string', format } }, false).validator({ $ref: 'gw:s' });
    for (const begin of ['', 'a@', '\u05d0']) {
      for (const piece of INTERNATIONAL) {
        for (const end of ['', '!', '\u0301', 'a', '-']) validate(`${begin}${piece.repeat(240 / piece.length)}${end}`);
      }
    }
  }
});

it('no format tries one way after the other: a megabyte of anything is judged', () => {
  // In quadratic time one of them would take minutes.
  for (const format of STANDARD) {
    const validate = new Schemas({ s: { type: 'string', format } }, false).validator({ $ref: 'gw:s' });
    for (const begin of BEGINNINGS) {
      for (const piece of REPEATED) validate(`${begin}${piece.repeat(Math.floor(1_000_000 / piece.length))}!`);
    }
  }
});
