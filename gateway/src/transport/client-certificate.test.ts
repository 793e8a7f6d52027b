import { describe, expect, it } from 'vitest';
import { alternativeNames } from './client-certificate.ts';

describe('alternative names of certificates', () => {
  it.each([
    ['', []],
    ['URI:spiffe://example.org/client', [['URI', 'spiffe://example.org/client']]],
    [
      'DNS:a.example, email:x@example.org, IP Address:192.0.2.1, URI:https://a/b:c',
      [
        ['DNS', 'a.example'],
        ['email', 'x@example.org'],
        ['IP Address', '192.0.2.1'],
        ['URI', 'https://a/b:c'],
      ],
    ],
    // Names that would pose as several, as Node.js quotes them.
    [
      'DNS:"a.example, DNS:admin.example", DNS:b.example',
      [
        ['DNS', 'a.example, DNS:admin.example'],
        ['DNS', 'b.example'],
      ],
    ],
    ['URI:"a\\"b, URI:admin"', [['URI', 'a"b, URI:admin']]],
    // What cannot be read is no name.
    ['DNS:a.example, nonsense', []],
    ['DNS:"unfinished, DNS:a', []],
  ])('%s', (text, names) => {
    expect(alternativeNames(text).map(({ kind, value }) => [kind, value])).toEqual(names);
  });
});
