/**
 * The dynamic scope of a schema (JSON Schema 2020-12, section 8.2.3.2): which `$dynamicAnchor` each name means, by the
 * references that led here. It follows from the references alone, so `$dynamicRef` is resolved at compile time, and a
 * schema that is reached in several scopes stands in the table once for each.
 */
import type { Documents, Located } from '../../spec/documents.ts';

export interface Scope {
  /** Identifies the scope; empty without dynamic anchors. */
  readonly key: string;
  readonly targets: ReadonlyMap<string, Located>;
}

/** Scopes of one compilation. Schemas made for it have exponentially many; those that people write, a handful. */
const MOST_SCOPES = 1000;

export class Scopes {
  readonly none: Scope = { key: '', targets: new Map() };
  readonly #documents: Documents;
  readonly #nameOf: (file: string) => string;
  readonly #known = new Map<string, Scope>();

  constructor(documents: Documents, nameOf: (file: string) => string) {
    this.#documents = documents;
    this.#nameOf = nameOf;
  }

  /** Returns the scope within the resource of a schema: outer anchors come first. Null past the limit. */
  enter(outer: Scope, schema: Located): Scope | null {
    const { document, dynamicAnchors } = this.#documents.resourceAt(schema);
    const added = [...dynamicAnchors].filter(([name]) => !outer.targets.has(name));
    if (added.length === 0) return outer;
    const own = added.flatMap(([name, pointer]): [string, Located][] => {
      const resolution = this.#documents.resolve({ document, pointer }, `#${encodeURIComponent(name)}`);
      return resolution.ok ? [[name, resolution.target]] : [];
    });
    const targets = new Map([...outer.targets, ...own].sort(([a], [b]) => (a < b ? -1 : 1)));
    const key = JSON.stringify([...targets].map(([name, at]) => [name, this.#nameOf(at.document.file), at.pointer]));
    const known = this.#known.get(key);
    if (known) return known;
    if (this.#known.size >= MOST_SCOPES) return null;
    const made = { key, targets };
    this.#known.set(key, made);
    return made;
  }

  /** Resolves a `$dynamicRef` that leads to `target` by its text in a scope: that, unless it is dynamic itself. */
  dynamic(scope: Scope, ref: string, target: Located): Located {
    const name = ref.slice(ref.indexOf('#') + 1);
    const { dynamicAnchors } = this.#documents.resourceAt(target);
    return (dynamicAnchors.get(name) === target.pointer ? scope.targets.get(name) : undefined) ?? target;
  }
}
