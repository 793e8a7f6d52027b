/** The Host header, and its counterpart in HTTP/2 (RFC 9112, section 3.2; RFC 3986, section 3.2). */

/** `uri-host [ ":" port ]`: a registered name or IPv4 address, or an IP literal in brackets; no user information. */
const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::\d{0,5})?$/;

/** Clients mostly say the same name again. */
let lastValid = '';

export function isHost(value: string): boolean {
  if (value === lastValid) return true;
  if (!HOST.test(value)) return false;
  lastValid = value;
  return true;
}
