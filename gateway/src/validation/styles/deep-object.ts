/**
 * Reads `deepObject` of any depth: `p[a]=1`, `p[a][b]=2`, lists as `p[a]=1&p[a]=2`, `p[a][]=1` or `p[a][0]=1`. OpenAPI
 * defines one level with plain values; the rest is common among clients and servers.
 */

/** A name and its text, decoded. */
export type Entry = readonly [name: string, text: string];

type Value = string | Value[] | { [name: string]: Value };
type Node = { readonly texts: string[]; readonly members: Map<string, Node>; isList: boolean };

/** Brackets in one name. */
const DEEPEST = 16;

const newNode = (): Node => ({ texts: [], members: new Map(), isList: false });

/**
 * Values are texts. Returns undefined if no entry has the parameter's name with brackets, and null if an entry is
 * malformed.
 */
export function readDeep(parameter: string, entries: readonly Entry[]): Value | undefined | null {
  const root = newNode();
  for (const [name, text] of entries) {
    if (!name.startsWith(`${parameter}[`)) continue;
    const keys = keysOf(name.slice(parameter.length));
    if (keys === null) return null;
    let at = root;
    for (const [i, key] of keys.entries()) {
      // An item without a number is one more; only at the end, since later keys could belong to any.
      if (key === '' && i < keys.length - 1) return null;
      if (key === '') {
        at.isList = true;
        break;
      }
      const next = at.members.get(key) ?? newNode();
      at.members.set(key, next);
      at = next;
    }
    at.texts.push(text);
  }
  return root.texts.length + root.members.size === 0 ? undefined : treeValue(root);
}

/** Returns the keys of `[a][b]`; null if the text has another form, or is too deep. */
function keysOf(brackets: string): readonly string[] | null {
  if (!brackets.endsWith(']')) return null;
  const keys = brackets.slice(1, -1).split('][', DEEPEST + 1);
  return keys.length > DEEPEST || keys.some((key) => key.includes('[') || key.includes(']')) ? null : keys;
}

/** Returns null if a value is given as two kinds of thing. */
function treeValue({ texts, members, isList }: Node): Value | null {
  const [first] = texts;
  if (members.size === 0) return texts.length === 1 && first !== undefined && !isList ? first : texts;
  if (texts.length > 0) return null;
  const values: [string, Value][] = [];
  for (const [key, node] of members) {
    const value = treeValue(node);
    if (value === null) return null;
    values.push([key, value]);
  }
  return values.every(([key], i) => key === String(i)) ? values.map(([, value]) => value) : Object.fromEntries(values);
}
