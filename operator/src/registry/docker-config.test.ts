import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { credentialFor, parseDockerConfig } from './docker-config.ts';
import { parseRepository } from './reference.ts';

const basic = (name: string, password = 'pw') => ({ auth: Buffer.from(`${name}:${password}`).toString('base64') });
const config = (auths: object) => parseDockerConfig(JSON.stringify({ auths }));
const userOf = (auths: object, repository: string) => {
  const found = credentialFor(config(auths), parseRepository(repository));
  return found?.kind === 'password' ? found.username : found?.kind;
};

describe('credentials of a docker config', () => {
  it('are found by host, and by path where there are several', () => {
    const auths = {
      'r.example.org': basic('all'),
      'https://r.example.org/team/': basic('team'),
      'r.example.org/team/app': basic('app'),
      'r.example.org:5000': basic('port'),
      'https://index.docker.io/v1/': basic('hub'),
      '*.dkr.example.com': basic('glob'),
      'one.dkr.example.com': basic('one'),
    };
    expect(userOf(auths, 'r.example.org/x')).toBe('all');
    expect(userOf(auths, 'r.example.org/team/x')).toBe('team');
    expect(userOf(auths, 'r.example.org/team/app')).toBe('app');
    expect(userOf(auths, 'r.example.org/team/app/x')).toBe('app');
    expect(userOf(auths, 'r.example.org/teams')).toBe('all');
    expect(userOf(auths, 'r.example.org:5000/x')).toBe('port');
    expect(userOf(auths, 'docker.io/x')).toBe('hub');
    expect(userOf(auths, 'a.dkr.example.com/x')).toBe('glob');
    expect(userOf(auths, 'one.dkr.example.com/x')).toBe('one');
    expect(userOf(auths, 'a.b.dkr.example.com/x')).toBeUndefined();
    expect(userOf(auths, 'evil-r.example.org/x')).toBeUndefined();
    expect(userOf(auths, 'r.example.org.evil.com/x')).toBeUndefined();
    expect(userOf(auths, 'r.example.org:443/x')).toBeUndefined();
  });

  it('come as auth, as user name and password, or as a token', () => {
    const one = (entry: object) => credentialFor(config({ 'r.io': entry }), parseRepository('r.io/x'));
    expect(one(basic('u', 'p:w'))).toEqual({ kind: 'password', username: 'u', password: 'p:w' });
    expect(one({ username: 'u', password: 'p' })).toEqual({ kind: 'password', username: 'u', password: 'p' });
    expect(one({ ...basic('u', ''), identitytoken: 't' })).toEqual({ kind: 'identity', token: 't' });
    expect(one({ registrytoken: 't' })).toEqual({ kind: 'registry-token', token: 't' });
  });

  it('are refused with a reason that repeats none of them', () => {
    for (const [text, why] of [
      ['{', 'not JSON'],
      ['[]', '"auths"'],
      ['{"auths":{"r.io":{}}}', 'entry 1'],
      ['{"auths":{"r.io":{"username":"hunter2"}}}', 'entry 1'],
      [`{"auths":{"r.io":{"auth":"${Buffer.from('hunter2').toString('base64')}"}}}`, 'entry 1'],
    ] as const) {
      expect(() => parseDockerConfig(text)).toThrow(why);
      expect(() => parseDockerConfig(text)).not.toThrow(/hunter2|aHVudGVyMg/);
    }
  });

  it('a host gets no credential of another, whatever the globs', () => {
    const label = fc.stringMatching(/^[a-z*]{1,6}$/);
    fc.assert(
      fc.property(label, fc.stringMatching(/^[a-z]{1,6}$/), (glob, host) => {
        const matches = new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(host);
        expect(userOf({ [`${glob}.example.org`]: basic('u') }, `${host}.example.org/x`)).toBe(
          matches ? 'u' : undefined,
        );
      }),
      propertyRuns(500),
    );
  });
});
