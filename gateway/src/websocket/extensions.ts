/**
 * `Sec-WebSocket-Extensions` (RFC 6455, section 9.1). Frames pass without knowledge of their extensions: the only one
 * allowed is `permessage-deflate` (RFC 7692), which changes only RSV1 in a frame's head.
 */

const DEFLATE = 'permessage-deflate';

/** Returns the offer for an upstream from a client's offer; empty for nothing. */
export function offeredExtensions(value: string | undefined): string {
  return elements(value).filter(isDeflate).join(', ');
}

/** Reports whether an upstream may have agreed to this after such an offer. */
export function mayAgree(agreed: string | undefined, offered: string): boolean {
  const chosen = elements(agreed);
  return chosen.length === 0 || (chosen.length === 1 && chosen.every(isDeflate) && offered !== '');
}

/** Reports whether messages may be compressed. */
export function compresses(agreed: string | undefined): boolean {
  return elements(agreed).some(isDeflate);
}

function isDeflate(element: string): boolean {
  return element.split(';', 1)[0]?.trim().toLowerCase() === DEFLATE;
}

/** Returns the elements of a list; commas within quotes do not separate. */
function elements(value = ''): string[] {
  return (value.match(/(?:"[^"]*"|[^,"])+/g) ?? []).map((each) => each.trim()).filter((each) => each !== '');
}
