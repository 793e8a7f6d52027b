const TARGET = /[\s,]*<([^>]*)>/y;
const PARAMETER = /\s*;\s*([^\s=;,"<]+)\s*(?:=\s*(?:"([^"]*)"|([^\s;,"]*)))?/y;

/**
 * Returns the target of `rel="next"` in a Link header (RFC 8288), relative to `base`; null without one. Reading ends at
 * malformed text.
 */
export function nextLink(header: string | null | undefined, base: string | URL): URL | null {
  const text = header ?? '';
  let at = 0;
  const read = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  for (let link = read(TARGET); link; link = read(TARGET)) {
    let relations = '';
    for (let parameter = read(PARAMETER); parameter; parameter = read(PARAMETER)) {
      const [, name = '', quoted, token = ''] = parameter;
      // Of several, the first one counts (RFC 8288, section 3.3).
      if (name.toLowerCase() === 'rel') relations ||= (quoted ?? token).toLowerCase();
    }
    if (relations.split(/\s+/).includes('next')) return URL.parse(link[1] ?? '', base);
  }
  return null;
}
