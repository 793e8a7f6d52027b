/**
 * Reads JSON whose objects have names written with escapes. JSON.parse may take such a name for another one of an
 * earlier text (V8; https://github.com/nodejs/node/issues/63785): a client could hide a member from validation, or
 * change how requests of others are read.
 */
import { behindString } from './between-strings.ts';
import { endOfString } from './string-end.ts';

const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;

/** Reports whether a string with an escape is a name. The bytes are JSON. */
export function hasEscapedName(text: Uint8Array): boolean {
  for (let from = 0; ; ) {
    const backslash: number = Buffer.prototype.indexOf.call(text, BACKSLASH, from);
    if (backslash < 0) return false;
    let at = endOfString(text, backslash, text.length) + 1;
    while ((text[at] as number) <= SPACE) at++;
    if (text[at] === COLON) return true;
    from = at;
  }
}

/** An object has a member twice. */
export class RepeatedMember extends Error {
  constructor() {
    super('an object has a member twice');
  }
}

type Open =
  | { readonly items: unknown[] }
  | { readonly members: Record<string, unknown>; readonly names: Set<string>; name: string };

const ORDINARY = { writable: true, enumerable: true, configurable: true };

/** Structure, the opening quote of a string, and the tokens between them. */
const TOKEN = /["[\]{}]|[^\s,:"[\]{}]+/g;

/**
 * The value of a text that is JSON; `readPlain`: of texts, numbers and words in it. Throws RepeatedMember if an object
 * has a member twice, unless the last `counts`.
 */
export function readEscapedNames(
  text: string,
  lastCounts: boolean,
  readPlain: (token: string) => unknown = JSON.parse,
): unknown {
  const outer: Open[] = [];
  let open: Open | null = null;
  let named = false;
  let whole: unknown;
  const put = (value: unknown) => {
    if (open === null) whole = value;
    else if ('items' in open) open.items.push(value);
    else {
      if (open.name === '__proto__') Object.defineProperty(open.members, open.name, { value, ...ORDINARY });
      else open.members[open.name] = value;
      named = false;
    }
  };
  for (TOKEN.lastIndex = 0; ; ) {
    const found = TOKEN.exec(text);
    if (found === null) return whole;
    let [token] = found;
    if (token === '"') {
      TOKEN.lastIndex = behindString(text, found.index);
      token = text.slice(found.index, TOKEN.lastIndex);
    }
    if (token === '{' || token === '[') {
      const next: Open = token === '[' ? { items: [] } : { members: {}, names: new Set(), name: '' };
      put('items' in next ? next.items : next.members);
      if (open !== null) outer.push(open);
      open = next;
      named = false;
    } else if (token === '}' || token === ']') {
      open = outer.pop() ?? null;
      named = false;
    } else if (open !== null && 'members' in open && !named) {
      open.name = String(JSON.parse(token));
      // Readers that write UTF-8 have one character for all halves of surrogates.
      const name = open.name.toWellFormed();
      if (!lastCounts && open.names.has(name)) throw new RepeatedMember();
      open.names.add(name);
      named = true;
    } else put(readPlain(token));
  }
}
