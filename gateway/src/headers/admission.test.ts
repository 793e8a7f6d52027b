import { describe, expect, it } from 'vitest';
import { Admission } from './admission.ts';

// docs/reference/gateway.md#header-admission
describe('request header admission', () => {
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

  it('has the baseline of the reference, no more and no less', () => {
    // As section 2.6 writes it; "conditionals" are those of RFC 9110, section 13.1.
    const table = `host content-type content-length content-encoding transfer-encoding accept accept-encoding
      accept-language accept-charset user-agent range if-match if-none-match if-modified-since if-unmodified-since
      if-range cache-control pragma expect origin access-control-request-method access-control-request-headers
      traceparent tracestate x-request-id upgrade connection sec-websocket-key sec-websocket-version
      sec-websocket-protocol sec-websocket-extensions x-forwarded-for x-forwarded-proto x-forwarded-host x-real-ip
      forwarded`;
    const bare = new Admission([]);
    for (const name of table.split(/\s+/)) expect(bare.decide(name), name).toBe(name);
    const others =
      'authorization cookie te trailer x-api-key x-forwarded-port x-forwarded x-real-ip2 hosts i if baggage dnt';
    for (const name of `${others} proxy-authorization x-auth-consumer sec-fetch-mode accept-ranges x-http-method-override`.split(
      ' ',
    )) {
      expect(bare.decide(name), name).toBeNull();
    }
  });

  it('has no authorization in the baseline', () => {
    expect(new Admission([]).decide('authorization')).toBeNull();
  });

  it('keeps the order, and counts and names what it dropped', () => {
    const raw = ['Host', 'a', 'Cookie', 'c', 'Accept', '1'];
    expect(admission.admit(raw)).toEqual({ headers: ['host', 'a', 'accept', '1'], dropped: 1, repeated: null });
    expect(admission.dropped(raw)).toEqual(['cookie']);
  });

  it('joins several lines of a list, in any spelling, where the first stood', () => {
    const raw = ['Accept', '1', 'Host', 'a', 'accept', '2', 'X-Api-Key', 'k', 'ACCEPT', '', 'x-api-key', 'l'];
    const headers = ['accept', '1, 2, ', 'host', 'a', 'x-api-key', 'k, l'];
    expect(admission.admit(raw)).toEqual({ headers, dropped: 0, repeated: null });
    const cookies = ['Cookie', 'a=1', 'cookie', 'b=2'];
    expect(new Admission(['cookie']).admit(cookies).headers).toEqual(['cookie', 'a=1; b=2']);
  });

  it.each(['content-type', 'Authorization', 'User-Agent', 'if-range', 'Origin', 'Sec-WebSocket-Key'])(
    'names %s where it comes in several lines',
    (name) => {
      const raw = ['Accept', '*', name, 'a', name.toUpperCase(), 'a'];
      expect(admission.admit(raw).repeated).toBe(name.toLowerCase());
      // Once is not twice, in one request or in several.
      expect(admission.admit(raw.slice(0, 4)).repeated).toBeNull();
      expect(admission.admit(raw.slice(0, 4)).repeated).toBeNull();
    },
  );

  it('joins lines also of names that it does not remember', () => {
    const all = new Admission(['*']);
    for (let i = 0; i < 2000; i++) all.admit([`x-flood-${i}`, 'a']);
    expect(all.admit(['x-new', 'a', 'X-New', 'b', 'x-flood-1', 'c']).headers).toEqual([
      'x-new',
      'a, b',
      'x-flood-1',
      'c',
    ]);
  });

  it('ends what Connection names here, in all its fields, but not the proxy chain nor what frames the message', () => {
    const raw = [
      'Connection',
      'X-API-Key, close',
      'Host',
      'a',
      'X-Api-Key',
      'k',
      'X-Forwarded-For',
      '::1',
      'Accept',
      '*',
    ];
    raw.push('connection', ' ACCEPT ,host,x-forwarded-for,,connection');
    expect(admission.admit(raw).headers).toEqual([
      ...['connection', 'X-API-Key, close,  ACCEPT ,host,x-forwarded-for,,connection'],
      ...['host', 'a', 'x-forwarded-for', '::1'],
    ]);
  });

  it('decides the same for more names than it remembers', () => {
    for (let i = 0; i < 2000; i++) expect(admission.decide(`x-flood-${i}`)).toBeNull();
    expect(admission.decide('X-API-Key')).toBe('x-api-key');
  });
});
