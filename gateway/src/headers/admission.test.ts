import { describe, expect, it } from 'vitest';
import { Admission } from './admission.ts';

describe('request header admission (reference 1, section 2.6)', () => {
  const admission = new Admission(['x-api-key', 'authorization', 'grpc-*', 'x-auth-consumer']);

  it.each([
    'Host',
    'CONTENT-TYPE',
    'If-None-Match',
    'Sec-WebSocket-Key',
    'X-Forwarded-For',
    'X-Api-Key',
    'grpc-timeout',
    'Authorization',
  ])('admits %s', (name) => {
    expect(admission.decide(name)).toBe(name.toLowerCase());
  });

  it.each(['X-Other', 'Cookie', 'x-auth-consumer', 'X-Auth-Claims', 'proxy-authorization'])('drops %s', (name) => {
    expect(admission.decide(name)).toBeNull();
  });

  it('has no authorization in the baseline', () => {
    expect(new Admission([]).decide('authorization')).toBeNull();
  });

  it('keeps order and repeated headers, and names what it dropped', () => {
    const raw = ['Host', 'a', 'Cookie', 'c', 'Accept', '1', 'accept', '2'];
    expect(admission.admit(raw)).toEqual(['host', 'a', 'accept', '1', 'accept', '2']);
    expect(admission.dropped(raw)).toEqual(['cookie']);
  });

  it('decides the same for more names than it remembers', () => {
    for (let i = 0; i < 2000; i++) expect(admission.decide(`x-flood-${i}`)).toBeNull();
    expect(admission.decide('X-API-Key')).toBe('x-api-key');
  });
});
