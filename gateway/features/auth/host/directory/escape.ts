/** Values in LDAP filters (RFC 4515) and names in distinguished names (RFC 4514). */

/**
 * Escapes ASCII as `\xx`, except letters, digits and `-_.@ `, so that no character has a meaning; all else stays, as
 * section 3 allows, since the client library reads the escaped bytes of one character as several.
 */
export function escapeFilterValue(value: string): string {
  return value.replace(/[^A-Za-z0-9\-_.@ \u0080-\u{10ffff}]/gu, (character) => {
    return `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/** The filter with `{username}` and `{dn}` replaced, once and together: a value is never looked into. */
export function filterOf(template: string, values: { readonly username: string; readonly dn?: string }): string {
  return template.replace(/\{(username|dn)\}/g, (whole, name) => {
    const value = name === 'dn' ? values.dn : values.username;
    return value === undefined ? whole : escapeFilterValue(value);
  });
}

/** Returns `admins` for `cn=admins,ou=groups,dc=example`; the whole text if it is not a distinguished name. */
export function firstRdnValue(dn: string): string {
  const match = /^\s*[A-Za-z0-9.-]+\s*=\s*((?:\\[0-9a-fA-F]{2}|\\.|[^\\,+;])*)/.exec(dn);
  const raw = match?.[1];
  if (raw === undefined || raw === '') return dn;
  const bytes: Buffer[] = [];
  for (const [piece] of raw.replace(/(?<!\\)\s+$/, '').matchAll(/\\[0-9a-fA-F]{2}|\\.|[^\\]+/gsu)) {
    if (/^\\[0-9a-fA-F]{2}$/.test(piece)) bytes.push(Buffer.from(piece.slice(1), 'hex'));
    else bytes.push(Buffer.from(piece.startsWith('\\') ? piece.slice(1) : piece, 'utf8'));
  }
  return Buffer.concat(bytes).toString('utf8');
}
