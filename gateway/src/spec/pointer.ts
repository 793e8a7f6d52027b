/** JSON pointers (RFC 6901). */

/** The pointer to a member. */
export function child(pointer: string, key: string | number): string {
  return `${pointer}/${typeof key === 'number' ? key : escapeToken(key)}`;
}

function escapeToken(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

/** Returns the tokens of a pointer; undefined if it is malformed. */
export function pointerTokens(pointer: string): readonly string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the value at a pointer; undefined if absent. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const token of pointerTokens(pointer) ?? [null]) {
    if (typeof value !== 'object' || value === null || token === null) return undefined;
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(token)) return undefined;
    if (!Object.hasOwn(value, token)) return undefined;
    value = Reflect.get(value, token);
  }
  return value;
}
