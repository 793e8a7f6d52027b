import { describe, expect, it } from 'vitest';
import { LookupsCrowded } from './name-lookups.ts';
import { isOwnLimit } from './own-limit.ts';
import { isOfServer } from './proxy-failures.ts';
import { UpstreamStalled } from './stall-timer.ts';
import { UpstreamCallsCrowded } from './upstream-calls.ts';

const withCode = (code: string) => Object.assign(new Error(code), { code });

describe('an error without a connection', () => {
  it.each(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM'])('%s says nothing about the server', (code) => {
    expect([isOwnLimit(withCode(code)), isOfServer(withCode(code))]).toEqual([true, false]);
  });

  it.each([new LookupsCrowded(), new UpstreamCallsCrowded()])('%s says nothing about the server', (error) => {
    expect([isOwnLimit(error), isOfServer(error)]).toEqual([true, false]);
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ECONNRESET'])('%s is the server’s', (code) => {
    expect([isOwnLimit(withCode(code)), isOfServer(withCode(code))]).toEqual([false, true]);
  });

  it('is no reason to go elsewhere if the request has waited too long', () => {
    expect(isOfServer(new UpstreamStalled())).toBe(false);
  });
});
