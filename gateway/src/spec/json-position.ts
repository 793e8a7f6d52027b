/** One pass over JSON that notes the positions of wanted pointers and builds nothing: documents have megabytes. */
import { child, pointerTokens } from './pointer.ts';

/** The wanted pointers as a tree; null prototypes, since tokens are data. */
type Wanted = Map<string, Wanted>;

export class JsonScanner {
  readonly #text: string;
  readonly #wanted: Wanted = new Map();
  readonly #offsets = new Map<string, number>();
  #at = 0;

  constructor(text: string, pointers: readonly string[]) {
    this.#text = text;
    for (const pointer of pointers) {
      let level = this.#wanted;
      for (const token of pointerTokens(pointer) ?? []) {
        const next: Wanted = level.get(token) ?? new Map();
        level.set(token, next);
        level = next;
      }
    }
  }

  /** Offsets of keys in objects and of items in lists; null if the text is not JSON. */
  run(): ReadonlyMap<string, number> | null {
    return this.#value('', this.#wanted) ? this.#offsets : null;
  }

  #value(pointer: string, wanted: Wanted): boolean {
    this.#space();
    if (wanted.size === 0) return this.#skip();
    const open = this.#text[this.#at];
    if (open === '{') return this.#members('}', (key) => this.#member(pointer, wanted, key));
    if (open !== '[') return this.#skip();
    let index = 0;
    return this.#members(']', null, () => {
      const next = wanted.get(String(index));
      const at = child(pointer, index++);
      if (!next) return this.#skip();
      this.#offsets.set(at, this.#at);
      return this.#value(at, next);
    });
  }

  #member(pointer: string, wanted: Wanted, key: { readonly text: string; readonly offset: number }): boolean {
    const next = wanted.get(key.text);
    if (!next) return this.#skip();
    const at = child(pointer, key.text);
    this.#offsets.set(at, key.offset);
    return this.#value(at, next);
  }

  /** Goes through an object (with `onMember`) or a list (with `onItem`), past its end. */
  #members(
    close: string,
    onMember: ((key: { text: string; offset: number }) => boolean) | null,
    onItem?: () => boolean,
  ): boolean {
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === close) {
      this.#at++;
      return true;
    }
    for (;;) {
      this.#space();
      if (onMember) {
        const offset = this.#at;
        const text = this.#string();
        this.#space();
        if (text === null || this.#text[this.#at++] !== ':') return false;
        this.#space();
        if (!onMember({ text, offset })) return false;
      } else if (!onItem?.()) return false;
      this.#space();
      const next = this.#text[this.#at++];
      if (next === close) return true;
      if (next !== ',') return false;
    }
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #string(): string | null {
    const start = this.#at;
    if (!this.#skipString()) return null;
    const raw = this.#text.slice(start, this.#at);
    if (!raw.includes('\\')) return raw.slice(1, -1);
    try {
      return String(JSON.parse(raw));
    } catch {
      return null;
    }
  }

  #skipString(): boolean {
    if (this.#text[this.#at] !== '"') return false;
    let end = this.#at;
    let escapes: number;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end < 0) return false;
      escapes = 0;
      while (this.#text[end - 1 - escapes] === '\\') escapes++;
    } while (escapes % 2 === 1);
    this.#at = end + 1;
    return true;
  }

  /** Skips one value, without recursion: depth is the author's choice. */
  #skip(): boolean {
    let depth = 0;
    do {
      this.#space();
      const char = this.#text[this.#at];
      if (char === undefined) return false;
      if (char === '"') {
        if (!this.#skipString()) return false;
      } else {
        if (char === '{' || char === '[') depth++;
        else if (char === '}' || char === ']') depth--;
        else if (char !== ',' && char !== ':') {
          const literal = /[^\s,:[\]{}"]+/y;
          literal.lastIndex = this.#at;
          this.#at += (literal.exec(this.#text)?.[0].length ?? 1) - 1;
        }
        this.#at++;
      }
    } while (depth > 0);
    return true;
  }
}
