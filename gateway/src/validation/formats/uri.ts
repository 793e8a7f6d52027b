/** `format: uri`, `uri-reference` (RFC 3986), `iri` and `iri-reference` (RFC 3987), part by part, each in one pass. */
import { isIPv6 } from 'node:net';

const PARTS = /^(?:([^:/?#]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;
const SCHEME = /^[a-z][a-z0-9+.-]*$/i;
const FUTURE = /^v[0-9a-f]+\.[a-z0-9._~!$&'()*+,;=:-]+$/i;

/** Characters of each part, besides percent-encoded ones. */
interface Characters {
  readonly userinfo: RegExp;
  readonly name: RegExp;
  readonly path: RegExp;
  readonly rest: RegExp;
}

const charactersOf = (unicode: string): Characters => {
  const of = (more: string) => new RegExp(`^(?:[a-z0-9._~!$&'()*+,;=${unicode}${more}-]|%[0-9a-f]{2})*$`, 'i');
  return { userinfo: of(':'), name: of(''), path: of(':@/'), rest: of(':@/?') };
};
const ASCII = charactersOf('');
const UNICODE = charactersOf('\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef\\ud800-\\udfff');

export const isUri = (text: string) => isReference(text, ASCII, true);
export const isUriReference = (text: string) => isReference(text, ASCII, false);
export const isIri = (text: string) => isReference(text, UNICODE, true);
export const isIriReference = (text: string) => isReference(text, UNICODE, false);

function isReference(text: string, characters: Characters, isAbsolute: boolean): boolean {
  const [whole, scheme, authority, path = '', query = '', fragment = ''] = PARTS.exec(text) ?? [];
  if (whole === undefined || (scheme === undefined ? isAbsolute : !SCHEME.test(scheme))) return false;
  if (authority !== undefined && (!isAuthority(authority, characters) || !/^(?:\/|$)/.test(path))) return false;
  return characters.path.test(path) && characters.rest.test(query) && characters.rest.test(fragment);
}

function isAuthority(authority: string, { userinfo, name }: Characters): boolean {
  const at = authority.indexOf('@');
  if (at >= 0 && !userinfo.test(authority.slice(0, at))) return false;
  const [, literal, host = '', port = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(authority.slice(at + 1)) ?? [];
  if (!/^\d*$/.test(port)) return false;
  if (literal !== undefined) return (isIPv6(literal) && !literal.includes('%')) || FUTURE.test(literal);
  return name.test(host) && !/[[\]@]/.test(authority.slice(at + 1)) && !hasSecondColon(authority.slice(at + 1));
}

function hasSecondColon(text: string): boolean {
  return text.indexOf(':') !== text.lastIndexOf(':');
}
