/**
 * The files of a project as documents, and the targets of their `$ref`s: other files of the project
 * (docs/decisions.md#references-stay-inside).
 */
import { messageOf } from '../text/message-of.ts';
import { didYouMean, nearestName } from '../text/nearest-name.ts';
import type { Diagnostics } from './diagnostic.ts';
import type { Document } from './document.ts';
import { isObject, objectOf } from './json.ts';
import { parseText } from './parse.ts';
import { child, pointerTokens, valueAt } from './pointer.ts';
import { absoluteUri, type Resource, Resources } from './resources.ts';

/** A value in a document. */
export interface Located {
  readonly document: Document;
  readonly pointer: string;
  readonly value: unknown;
  /** Members that are written elsewhere: those of a reference's target. */
  readonly origins?: ReadonlyMap<string, Located>;
}

export type Resolution =
  | { readonly ok: true; readonly target: Located }
  /** `hint`: how to correct the fault. */
  | { readonly ok: false; readonly why: string; readonly hint: string };

/** Parsed contents of files, by name. */
export type ParsedTexts = Map<string, ReturnType<typeof parseText>>;

/** References to references; more is a cycle. */
const MAX_HOPS = 64;

export class Documents {
  readonly #files: ReadonlyMap<string, { readonly bytes: Uint8Array }>;
  readonly #diagnostics: Diagnostics;
  readonly #missing: (file: string) => void;
  readonly #parsed: ParsedTexts;
  readonly #open = new Map<string, Document | null>();
  readonly #texts = new Map<string, string>();
  readonly #resources = new Map<Document, Resources>();
  readonly #resolved = new Map<Resource, Map<string, Resolution>>();
  /** Resources by the URI that their documents give them; of equal names the first. */
  readonly #named = new Map<string, Resource>();
  #searched = false;
  /** Pointers that are being followed through references. */
  #crossing = 0;

  /**
   * `missing` is called with files that references lead to, and that do not exist. `parsed`: contents of the files, by
   * name, for several readings of them.
   */
  constructor(
    files: ReadonlyMap<string, { readonly bytes: Uint8Array }>,
    diagnostics: Diagnostics,
    missing: (file: string) => void = () => {},
    parsed: ParsedTexts = new Map(),
  ) {
    this.#files = files;
    this.#diagnostics = diagnostics;
    this.#missing = missing;
    this.#parsed = parsed;
  }

  /** Parses a file once; returns null, with E1002, if it does not parse or is missing. */
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
      this.#diagnostics.addAt(
        'E1002',
        file,
        null,
        `the file cannot be read: ${reason}`,
        'Check that the file exists and that you may read it.',
      );
    }
    if (!bytes) return null;
    const parsed = this.#parsed.get(file) ?? parseText(bytes);
    this.#parsed.set(file, parsed);
    this.#texts.set(file, parsed.text);
    if (parsed.ok) return { file, value: parsed.value };
    this.#diagnostics.addAt('E1002', file, parsed.position, parsed.message, parsed.hint);
    return null;
  }

  /** Returns the target of a reference at a place in a document. */
  resolve(from: Pick<Located, 'document' | 'pointer'>, ref: string): Resolution {
    const resource = this.resourceAt(from);
    const cache = this.#resolved.get(resource) ?? new Map<string, Resolution>();
    this.#resolved.set(resource, cache);
    let resolution = cache.get(ref);
    if (!resolution) {
      resolution = this.#resolve(resource, ref);
      cache.set(ref, resolution);
    }
    return resolution;
  }

  /** The schema resource around a place in a document. */
  resourceAt({ document, pointer }: Pick<Located, 'document' | 'pointer'>): Resource {
    return this.#resourcesOf(document).at(pointer);
  }

  #resourcesOf(document: Document): Resources {
    const known = this.#resources.get(document);
    if (known) return known;
    const resources = new Resources(document);
    this.#resources.set(document, resources);
    for (const resource of resources.named) {
      if (resource.uri !== undefined && !this.#named.has(resource.uri)) this.#named.set(resource.uri, resource);
    }
    return resources;
  }

  #resolve(from: Resource, ref: string): Resolution {
    const hash = ref.indexOf('#');
    const path = hash < 0 ? ref : ref.slice(0, hash);
    const fragment = decode(hash < 0 ? '' : ref.slice(hash + 1));
    if (fragment === undefined) return no(`"${ref}" is badly percent-encoded`, ENCODE);
    if (path === '') return this.#within(from, fragment, ref);
    const uri = absoluteUri(path, from.uri);
    const named = uri === undefined ? undefined : this.#named.get(uri);
    if (named) return this.#within(named, fragment, ref);
    const file = resolveFile(from.document.file, path);
    const document = typeof file === 'string' ? this.open(file) : null;
    if (document) return this.#within(this.#resourcesOf(document).at(''), fragment, ref);
    const elsewhere = uri === undefined ? undefined : this.#search(uri);
    if (elsewhere) return this.#within(elsewhere, fragment, ref);
    if (typeof file !== 'string') return no(file.why, file.hint);
    if (this.#files.has(file)) return no(`"${file}" does not parse`, 'Correct the errors of that file.');
    this.#missing(file);
    return no(`"${file}" is not a file of the project`, fileHint(file, this.#files.keys()));
  }

  #within(resource: Resource, fragment: string, ref: string): Resolution {
    const resolution = within(resource, fragment, ref);
    if (resolution.ok || !fragment.startsWith('/')) return resolution;
    const target = this.#through(resource, fragment);
    return target ? { ok: true, target } : resolution;
  }

  /** Returns the target of a pointer that passes references, as in a document with `components` in other files. */
  #through({ document, pointer }: Resource, fragment: string): Located | null {
    let at: Located = { document, pointer, value: valueAt(document.value, pointer) };
    if (this.#crossing > MAX_HOPS) return null;
    this.#crossing++;
    try {
      for (const token of pointerTokens(fragment) ?? []) {
        const crosses = isObject(at.value) && typeof at.value['$ref'] === 'string' && !Object.hasOwn(at.value, token);
        const place = { file: at.document.file, pointer: child(at.pointer, '$ref') };
        const owner = crosses ? this.follow(at) : at;
        if (!owner || member(owner, token).value === undefined) return null;
        if (crosses) {
          this.#diagnostics.add('E1007', place, 'other references lead through this one, as if its target stood here');
        }
        at = member(owner, token);
      }
    } finally {
      this.#crossing--;
    }
    return at;
  }

  /** Searches all files of the project, also those not referenced by name. */
  #search(uri: string): Resource | undefined {
    if (!this.#searched) {
      this.#searched = true;
      for (const file of [...this.#files.keys()].sort()) {
        if (!this.#open.has(file) && /\.(json|ya?ml)$/i.test(file)) this.#register(file);
      }
    }
    return this.#named.get(uri);
  }

  /** Registers the resources of a file; ignores one that does not parse: it may be unrelated to the specs. */
  #register(file: string): void {
    let parsed: ReturnType<typeof parseText>;
    try {
      const bytes = Buffer.from(this.bytesOf(file) ?? []);
      if (!bytes.includes('$id') && !bytes.includes('$self')) return;
      parsed = parseText(bytes);
    } catch {
      return;
    }
    if (!parsed.ok) return;
    const document = { file, value: parsed.value };
    this.#texts.set(file, parsed.text);
    this.#open.set(file, document);
    this.#resourcesOf(document);
  }

  /** Follows a value's references; returns null if one leads nowhere or back to itself. */
  follow(located: Located): Located | null {
    const end = this.#end(located);
    return end.found ? end.at : null;
  }

  /** Reports whether references lead back to their start, and never to a value. */
  goesInCircle(located: Located): boolean {
    const end = this.#end(located);
    return !end.found && end.circle;
  }

  #end(located: Located): { found: true; at: Located } | { found: false; circle: boolean } {
    let at = located;
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      const ref = isObject(at.value) ? at.value['$ref'] : undefined;
      if (typeof ref !== 'string') return { found: true, at };
      const resolution = this.resolve(at, ref);
      if (!resolution.ok) return { found: false, circle: false };
      at = resolution.target;
    }
    return { found: false, circle: true };
  }
}

function within({ document, pointer: root, anchors }: Resource, fragment: string, ref: string): Resolution {
  const found = (pointer: string): Resolution | null => {
    const value = valueAt(document.value, pointer);
    return value === undefined ? null : { ok: true, target: { document, pointer, value } };
  };
  if (fragment === '' || fragment.startsWith('/')) {
    // Many mean the document by `#/components/schemas/…`, also below an `$id`.
    const resolution = found(root + fragment) ?? (root === '' ? null : found(fragment));
    return resolution ?? no(`there is nothing at "${ref}"`, targetHint(document, root, fragment, ref));
  }
  const anchor = anchors.get(fragment);
  return (
    (anchor === undefined ? null : found(anchor)) ??
    no(
      `there is no $anchor "${fragment}" for "${ref}"`,
      didYouMean(fragment, anchors.keys()) ??
        `Refer to a path in the document, such as #/components/schemas/${fragment.slice(0, 60)}.`,
    )
  );
}

function no(why: string, hint: string): Resolution {
  return { ok: false, why, hint };
}

const ENCODE = 'Write a percent sign as %25.';

/** Returns the reference with the name that is probably meant, or advice to add the target. */
function targetHint({ value }: Document, root: string, fragment: string, ref: string): string {
  const tokens = pointerTokens(fragment) ?? [];
  const depth = tokens.findIndex((_, i) => valueAt(value, root + pointerOf(tokens.slice(0, i + 1))) === undefined);
  const holder = valueAt(value, root + pointerOf(tokens.slice(0, Math.max(depth, 0))));
  const nearest = nearestName(tokens[depth] ?? '', Object.keys(objectOf(holder)));
  if (nearest === null) return `Add ${JSON.stringify(fragment)} to the document, or correct the reference.`;
  const corrected = pointerOf(tokens.map((token, i) => (i === depth ? nearest : token)));
  return `Did you mean "${ref.slice(0, ref.indexOf('#'))}#${corrected}"?`;
}

function pointerOf(tokens: readonly string[]): string {
  return tokens.reduce(child, '');
}

function fileHint(file: string, known: Iterable<string>): string {
  return (
    didYouMean(file, known) ??
    'Add the file to the folder of the specs, or correct the path, which is relative to this file.'
  );
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The file of the project that a path in another one names. */
function resolveFile(from: string, ref: string): string | { readonly why: string; readonly hint: string } {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(ref))
    return {
      why: `nothing is fetched, and no file of the project has "${ref}" for its $id`,
      hint: 'Download the document into the folder of the specs, and refer to it by its path.',
    };
  const path = decode(ref);
  if (path === undefined) return { why: `"${ref}" is badly percent-encoded`, hint: ENCODE };
  if (path.startsWith('/') || path.includes('\\'))
    return {
      why: `"${ref}" is not a relative path with "/"`,
      hint: 'Write the path relative to this file, such as ./schemas/book.yaml.',
    };
  const parts = from.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) {
        const hint = 'Copy the file into the folder of the specs: references stay within the project.';
        return { why: `"${ref}" climbs out of the project`, hint };
      }
    } else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** Returns an item, member or element of a located value. */
export function member(located: Located, key: string | number): Located {
  const origin = located.origins?.get(String(key));
  if (origin) return origin;
  const pointer = child(located.pointer, key);
  const value =
    typeof located.value === 'object' && located.value !== null && Object.hasOwn(located.value, key)
      ? (Reflect.get(located.value, key) as unknown)
      : undefined;
  return { document: located.document, pointer, value };
}

/** Returns the place of a located value. */
export function placeOf({ document, pointer }: Located): { readonly file: string; readonly pointer: string } {
  return { file: document.file, pointer };
}
