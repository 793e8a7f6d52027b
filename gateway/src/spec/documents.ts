/** The files of a project as documents, and what a `$ref` in one of them leads to: other files of the project (D2). */
import { messageOf } from '../message-of.ts';
import type { Diagnostics } from './diagnostic.ts';
import { isObject } from './json.ts';
import { parseText } from './parse.ts';
import { child, valueAt } from './pointer.ts';

export interface Document {
  /** Name in the project. */
  readonly file: string;
  readonly value: unknown;
}

/** A value in a document. */
export interface Located {
  readonly document: Document;
  readonly pointer: string;
  readonly value: unknown;
}

export type Resolution = { readonly ok: true; readonly target: Located } | { readonly ok: false; readonly why: string };

/** References to references; more is a cycle. */
const MAX_HOPS = 64;

export class Documents {
  readonly #files: ReadonlyMap<string, { readonly bytes: Uint8Array }>;
  readonly #diagnostics: Diagnostics;
  readonly #open = new Map<string, Document | null>();
  readonly #texts = new Map<string, string>();
  readonly #names = new Map<Document, ReadonlyMap<string, string>>();
  readonly #resolved = new Map<Document, Map<string, Resolution>>();

  constructor(files: ReadonlyMap<string, { readonly bytes: Uint8Array }>, diagnostics: Diagnostics) {
    this.#files = files;
    this.#diagnostics = diagnostics;
  }

  /** Parsed once; null, and E1002, where it does not parse or is not there. */
  open(file: string): Document | null {
    const known = this.#open.get(file);
    if (known !== undefined) return known;
    const document = this.#parse(file);
    this.#open.set(file, document);
    return document;
  }

  /** The text of an opened file. */
  textOf(file: string): string | undefined {
    return this.#texts.get(file);
  }

  bytesOf(file: string): Uint8Array | undefined {
    return this.#files.get(file)?.bytes;
  }

  #parse(file: string): Document | null {
    let bytes: Uint8Array | undefined;
    try {
      bytes = this.bytesOf(file);
    } catch (error) {
      // A folder's files are read on demand, and may be gone or unreadable by then.
      const reason = messageOf(error);
      this.#diagnostics.addAt('E1002', file, null, `the file cannot be read: ${reason}`);
    }
    if (!bytes) return null;
    const parsed = parseText(bytes);
    this.#texts.set(file, parsed.text);
    if (parsed.ok) return { file, value: parsed.value };
    this.#diagnostics.addAt('E1002', file, parsed.position, parsed.message);
    return null;
  }

  /** `base`: pointer of the schema whose `$id` a fragment is relative to; `` for the document. */
  resolve(from: Document, ref: string, base = ''): Resolution {
    const cache = this.#resolved.get(from) ?? new Map<string, Resolution>();
    this.#resolved.set(from, cache);
    const key = base === '' ? ref : `${base}\0${ref}`;
    let resolution = cache.get(key);
    if (!resolution) {
      resolution = this.#resolve(from, ref, base);
      cache.set(key, resolution);
    }
    return resolution;
  }

  #resolve(from: Document, ref: string, base: string): Resolution {
    const hash = ref.indexOf('#');
    const path = hash < 0 ? ref : ref.slice(0, hash);
    const fragment = decode(hash < 0 ? '' : ref.slice(hash + 1));
    if (fragment === undefined) return no(`"${ref}" is badly percent-encoded`);
    if (path === '') return this.#within(from, fragment, base, ref);
    const named = this.#namesOf(from).get(path);
    if (named !== undefined) return this.#within(from, fragment, named, ref);
    const file = resolveFile(from.file, path);
    if (typeof file !== 'string') return no(file.why);
    const document = this.open(file);
    if (document) return this.#within(document, fragment, '', ref);
    return no(this.#files.has(file) ? `"${file}" does not parse` : `"${file}" is not a file of the project`);
  }

  #within(document: Document, fragment: string, base: string, ref: string): Resolution {
    const found = (pointer: string): Resolution | null => {
      const value = valueAt(document.value, pointer);
      return value === undefined ? null : { ok: true, target: { document, pointer, value } };
    };
    if (fragment === '' || fragment.startsWith('/')) {
      const resolution = found(base + fragment) ?? (base === '' ? null : found(fragment));
      return resolution ?? no(`there is nothing at "${ref}"`);
    }
    const anchor = this.#namesOf(document).get(`#${fragment}`);
    return (anchor === undefined ? null : found(anchor)) ?? no(`there is no $anchor "${fragment}" for "${ref}"`);
  }

  /** `$id`s, and `$anchor`s and `$dynamicAnchor`s with `#` before them, to pointers. */
  #namesOf(document: Document): ReadonlyMap<string, string> {
    const known = this.#names.get(document);
    if (known) return known;
    const names = new Map<string, string>();
    const visit = (value: unknown, pointer: string): void => {
      if (Array.isArray(value)) value.forEach((each, i) => void visit(each, child(pointer, i)));
      if (!isObject(value)) return;
      for (const [key, each] of Object.entries(value)) {
        if (typeof each === 'string') {
          const name =
            key === '$id' ? each.replace(/#$/, '') : /^\$(dynamicAnchor|anchor)$/.test(key) ? `#${each}` : '';
          if (name !== '' && !names.has(name)) names.set(name, pointer);
        } else visit(each, child(pointer, key));
      }
    };
    visit(document.value, '');
    this.#names.set(document, names);
    return names;
  }

  /** What a value is once its references are followed; null where one leads nowhere or back to itself. */
  follow(located: Located): Located | null {
    let at = located;
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      const ref = isObject(at.value) ? at.value['$ref'] : undefined;
      if (typeof ref !== 'string') return at;
      const resolution = this.resolve(at.document, ref);
      if (!resolution.ok) return null;
      at = resolution.target;
    }
    return null;
  }
}

function no(why: string): Resolution {
  return { ok: false, why };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The file of the project that a path in another one names. */
function resolveFile(from: string, ref: string): string | { readonly why: string } {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(ref))
    return { why: `"${ref}" lies outside the project, and nothing is fetched` };
  const path = decode(ref);
  if (path === undefined) return { why: `"${ref}" is badly percent-encoded` };
  if (path.startsWith('/') || path.includes('\\')) return { why: `"${ref}" is not a relative path with "/"` };
  const parts = from.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return { why: `"${ref}" climbs out of the project` };
    } else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** One item, member or element of a located value. */
export function member(located: Located, key: string | number): Located {
  const pointer = child(located.pointer, key);
  const value =
    typeof located.value === 'object' && located.value !== null && Object.hasOwn(located.value, key)
      ? (Reflect.get(located.value, key) as unknown)
      : undefined;
  return { document: located.document, pointer, value };
}

/** Where a located value stands. */
export function placeOf({ document, pointer }: Located): { readonly file: string; readonly pointer: string } {
  return { file: document.file, pointer };
}
