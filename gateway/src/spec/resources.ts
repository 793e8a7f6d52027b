/**
 * Schema resources of a document, named by `$id`, `$self` and anchors (JSON Schema 2020-12, section 8.2; OpenAPI 3.2,
 * section 4.1.2). A reference is relative to the resource that contains it.
 */
import type { Document } from './document.ts';
import { walk } from './walk.ts';

export interface Resource {
  readonly document: Document;
  /** Pointer of its root. */
  readonly pointer: string;
  /** Absolute; undefined if an `$id` is not a URI reference. */
  readonly uri: string | undefined;
  /** `$anchor`s and `$dynamicAnchor`s, to pointers. */
  readonly anchors: ReadonlyMap<string, string>;
  readonly dynamicAnchors: ReadonlyMap<string, string>;
}

interface Found extends Resource {
  readonly anchors: Map<string, string>;
  readonly dynamicAnchors: Map<string, string>;
}

export class Resources {
  /** Resources by pointer; the document's own has the empty one. */
  readonly #found = new Map<string, Found>();

  constructor(document: Document) {
    this.#add(document, '', fileUri(document.file));
    walk(document, { object: (value, pointer) => this.#visit(document, value, pointer) });
  }

  #visit(document: Document, value: object, pointer: string): void {
    const self = pointer === '' && '$self' in value ? value.$self : undefined;
    const id = '$id' in value ? value.$id : self;
    const [uri = '', fragment] = typeof id === 'string' ? id.split('#', 2) : [];
    if (uri !== '') this.#add(document, pointer, absoluteUri(uri, this.at(pointer).uri));
    const dynamic = '$dynamicAnchor' in value ? value.$dynamicAnchor : undefined;
    const plain = '$anchor' in value ? value.$anchor : undefined;
    // Up to draft 7, a fragment of `$id` is an anchor.
    const former = fragment === undefined || fragment === '' || fragment.startsWith('/') ? undefined : fragment;
    if (former === undefined && typeof plain !== 'string' && typeof dynamic !== 'string') return;
    const { anchors, dynamicAnchors } = this.#at(pointer);
    for (const name of [plain, dynamic, former]) {
      if (typeof name === 'string' && !anchors.has(name)) anchors.set(name, pointer);
    }
    if (typeof dynamic === 'string' && !dynamicAnchors.has(dynamic)) dynamicAnchors.set(dynamic, pointer);
  }

  #add(document: Document, pointer: string, uri: string | undefined): void {
    this.#found.set(pointer, { document, pointer, uri, anchors: new Map(), dynamicAnchors: new Map() });
  }

  /** The innermost resource around a pointer. */
  at(pointer: string): Resource {
    return this.#at(pointer);
  }

  #at(pointer: string): Found {
    if (this.#found.size > 1) {
      for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
        const found = this.#found.get(at);
        if (found) return found;
      }
    }
    return this.#found.get('') as Found;
  }

  /** Resources with a name of their own. */
  get named(): readonly Resource[] {
    return [...this.#found.values()].filter(({ pointer, uri, document }) => {
      return pointer !== '' || uri !== fileUri(document.file);
    });
  }
}

/** Returns a URI for a file, so that relative references in it can be resolved; the scheme is used here only. */
function fileUri(file: string): string {
  return `project:///${file.split('/').map(encodeURIComponent).join('/')}`;
}

/** Returns undefined if it is not a reference, or relative to a base that has no hierarchy. */
export function absoluteUri(reference: string, base: string | undefined): string | undefined {
  return URL.parse(reference, base)?.href;
}
