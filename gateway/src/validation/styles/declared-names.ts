/**
 * Names that servers read as a declared one (docs/decisions.md#names-read-as-declared): PHP strips blanks before a name,
 * PHP, Rack and qs cut it at `[`, some at NUL, and older servers separate at `;`, too.
 */
import type { FormField } from '../../artifact/format.ts';
import { decode } from './text.ts';

/** Characters that change how servers read a name: blanks of ASCII, NUL and an opening bracket. */
const ODD = /[\t-\r \0[]/;

/** Why a name is refused; the declared one is the error's field. */
export const READ_AS_DECLARED = 'is sent under another name that some servers read as this one';

type Field = Pick<FormField, 'name' | 'style' | 'explode' | 'content_type' | 'property_types'>;

export class DeclaredNames {
  readonly #names = new Set<string>();
  /** Names of objects whose members follow in brackets. */
  readonly #deep: string[] = [];

  constructor(fields: readonly Field[]) {
    for (const { name, style, explode, content_type, property_types } of fields) {
      const isDeep = content_type === undefined && style === 'deepObject';
      if (isDeep) this.#deep.push(`${name}[`);
      if (!isDeep && content_type === undefined && explode && property_types) {
        for (const property of Object.keys(property_types)) this.#names.add(property);
      } else this.#names.add(name);
    }
  }

  /** Reports whether a field or parameter takes this name. */
  has(name: string): boolean {
    return this.#names.has(name) || this.#deep.some((prefix) => name.startsWith(prefix));
  }

  /** Returns the declared name that some servers read an undeclared one as; null if no server does. */
  readAs(name: string): string | null {
    if (!ODD.test(name) || this.has(name)) return null;
    const trimmed = name.trim();
    if (this.#names.has(trimmed)) return trimmed;
    const cut = name.slice(0, name.search(/[\0[]/) >>> 0).trim();
    return this.#names.has(cut) ? cut : null;
  }

  /** The first such name among those of a query or an urlencoded form; `text`: all of it, encoded. */
  readAsIn(pairs: readonly (readonly [name: string, value: string])[], text: string): string | null {
    for (const [name] of pairs) {
      const declared = this.readAs(name);
      if (declared !== null) return declared;
    }
    return text.includes(';') ? this.#behindSemicolon(text) : null;
  }

  /** PHP decodes names of cookies. */
  readAsAmongCookies(pairs: readonly (readonly [name: string, value: string])[]): string | null {
    for (const [raw] of pairs) {
      if (this.has(raw)) continue;
      const name = decode(raw, true) ?? raw;
      const declared = this.has(name) ? name : this.readAs(name);
      if (declared !== null) return declared;
    }
    return null;
  }

  #behindSemicolon(text: string): string | null {
    for (const [, raw = ''] of text.matchAll(/;([^;&=]*)=/g)) {
      const name = decode(raw, true);
      if (name === undefined) continue;
      const declared = this.has(name) ? name : this.readAs(name);
      if (declared !== null) return declared;
    }
    return null;
  }
}
