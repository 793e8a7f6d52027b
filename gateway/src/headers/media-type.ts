/** Content types, as requests, parts of forms and specs write them (RFC 9110, section 8.3). */

/** Lower case, without parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  const text = contentType ?? '';
  const end = text.indexOf(';');
  return (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
}

/** `application/json`, `application/problem+json` and the like; of a type without parameters. */
export function isJson(media: string): boolean {
  return media.endsWith('/json') || media.endsWith('+json');
}

/** Reports whether a range (`type/subtype`, `type/*` or everything) covers a type; both lower case. */
export function covers(range: string, media: string): boolean {
  if (range === media || range === '*/*') return true;
  return range.endsWith('/*') && media.startsWith(range.slice(0, -1));
}

/** Ranges that say more come first when sorted by this, descending. */
export function specificity(range: string): number {
  return range === '*/*' ? 0 : range.endsWith('/*') ? 1 : 2;
}

const PARAMETER = /[ \t]*;[ \t]*([A-Za-z0-9!#$&^_.+*-]+)=(?:"([^"\\\r\n]*)"|([^\s;",\\]+))/y;

/**
 * Returns the parameters after a header's first word, names in lower case. Returns null if they are malformed, one
 * occurs twice, or one has a backslash: readers differ on these, and an upstream could see other values than the
 * validated ones.
 */
export function parametersOf(header: string): ReadonlyMap<string, string> | null {
  const found = new Map<string, string>();
  let end = header.length;
  while (end > 0 && isFiller(header.charCodeAt(end - 1))) end--;
  PARAMETER.lastIndex = header.includes(';') ? Math.min(header.indexOf(';'), end) : end;
  while (PARAMETER.lastIndex < end) {
    const match = PARAMETER.exec(header);
    if (!match) return null;
    const name = (match[1] as string).toLowerCase();
    if (found.has(name)) return null;
    found.set(name, match[2] ?? match[3] ?? '');
  }
  return found;
}

/** A space, a tab or a semicolon. */
function isFiller(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x3b;
}

/** Reports whether text of this content type is UTF-8: it says so, says nothing, or says ASCII. */
export function isUtf8(contentType: string | undefined): boolean {
  if (contentType === undefined || !/charset/i.test(contentType)) return true;
  const charset = parametersOf(contentType)?.get('charset')?.toLowerCase();
  return charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii';
}
