/** The address of a page with its query; what is empty is left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}
