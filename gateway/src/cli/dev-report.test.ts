import { describe, expect, it } from 'vitest';
import { interfacesNote } from './dev-report.ts';

describe('the interfaces that gw dev listens on', () => {
  it.each([
    ['0.0.0.0', 'all interfaces'],
    ['::', 'all interfaces'],
    ['192.0.2.7', '192.0.2.7'],
  ])('names %s, with how to listen on this machine alone', (address, shown) => {
    expect(interfacesNote({ address, port: 8080, family: '' })).toBe(
      `listening on ${shown}: other machines may send requests; --listen 127.0.0.1:8080 keeps it to this one\n`,
    );
  });

  it.each(['127.0.0.1', '::1'])('says nothing of %s', (address) => {
    expect(interfacesNote({ address, port: 8080, family: '' })).toBe('');
  });
});
