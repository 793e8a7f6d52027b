/** The target of an HTTP/1.1 request in absolute form, which a server must accept (RFC 9112, section 3.2.2). */

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;

/** Returns authority and origin form of an absolute target, or null unless its scheme is http or https. */
export function fromAbsolute(target: string): { readonly authority: string; readonly origin: string } | null {
  const [, authority, rest] = ABSOLUTE.exec(target) ?? [];
  if (authority === undefined || rest === undefined) return null;
  return { authority, origin: rest.startsWith('/') ? rest : `/${rest}` };
}
