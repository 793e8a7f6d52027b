import * as fc from 'fast-check';
import { FilterParser } from 'ldapts';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { escapeFilterValue, filterOf, firstRdnValue } from './escape.ts';

describe('values in LDAP filters', () => {
  it.each([
    ['alice', 'alice'],
    ['*', '\\2a'],
    ['a)(uid=*', 'a\\29\\28uid\\3d\\2a'],
    ['back\\slash', 'back\\5cslash'],
    ['nul\0', 'nul\\00'],
    ['Zoë ☃', 'Zoë ☃'],
  ])('%j is %s', (value, escaped) => {
    expect(escapeFilterValue(value)).toBe(escaped);
  });

  it('stay one value, whatever they are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (value) => {
        const filter = FilterParser.parseString(
          filterOf('(&(objectClass=person)(uid={username}))', { username: value }),
        );
        expect(filter).toMatchObject({ filters: [{ attribute: 'objectClass' }, { attribute: 'uid', value }] });
      }),
      propertyRuns(500),
    );
  });

  it('are replaced once and together: a value is not looked into', () => {
    const filter = filterOf('(|(member={dn})(memberUid={username}))', { username: '{dn}', dn: 'cn={username}' });
    expect(filter).toBe('(|(member=cn\\3d\\7busername\\7d)(memberUid=\\7bdn\\7d))');
    expect(filterOf('(member={dn})', { username: 'x' })).toBe('(member={dn})');
  });
});

describe('names of groups from distinguished names', () => {
  it.each([
    ['cn=admins,ou=groups,dc=example', 'admins'],
    ['CN = Domain Admins , OU=x', 'Domain Admins'],
    ['cn=a\\, b,ou=x', 'a, b'],
    ['cn=a\\2C b,ou=x', 'a, b'],
    ['cn=gr\\C3\\B6\\C3\\9Fe,ou=x', 'größe'],
    ['cn=größe,ou=x', 'größe'],
    ['cn=one+uid=two,ou=x', 'one'],
    ['2.5.4.3=oid', 'oid'],
    ['cn=trailing\\ ,ou=x', 'trailing '],
    ['no name', 'no name'],
    ['cn=,ou=x', 'cn=,ou=x'],
    ['', ''],
  ])('%j is %j', (dn, name) => {
    expect(firstRdnValue(dn)).toBe(name);
  });
});
