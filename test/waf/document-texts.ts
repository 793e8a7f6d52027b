/** Texts that a document has as examples, by the name of the parameter, property or member. */
import { isObject } from '../../gateway/features/kit.ts';

const MOST_DEPTH = 60;
/** Texts for one name. */
const MOST_TEXTS = 20;

export function documentTexts(document: unknown): ReadonlyMap<string, readonly string[]> {
  const texts = new DocumentTexts();
  texts.visit(document, null, 0);
  return texts.found;
}

class DocumentTexts {
  readonly found = new Map<string, string[]>();

  /** `name`: of the property that a schema describes. */
  visit(value: unknown, name: string | null, depth: number): void {
    if (depth > MOST_DEPTH) return;
    if (Array.isArray(value)) for (const each of value) this.visit(each, null, depth + 1);
    if (!isObject(value)) return;
    const own = typeof value['in'] === 'string' && typeof value['name'] === 'string' ? value['name'] : name;
    for (const given of [value['example'], value['default']]) this.#addAll(given, own, depth);
    const { examples } = value;
    if (Array.isArray(examples)) for (const each of examples) this.#addAll(each, own, depth);
    else if (isObject(examples)) {
      for (const each of Object.values(examples)) if (isObject(each)) this.#addAll(each['value'], own, depth);
    }
    for (const [key, each] of Object.entries(value)) {
      if (key === 'example' || key === 'examples' || key === 'default') continue;
      if (key === 'properties' && isObject(each)) {
        for (const [property, schema] of Object.entries(each)) this.visit(schema, property, depth + 2);
      } else this.visit(each, key === 'schema' || key === 'items' ? own : null, depth + 1);
    }
  }

  #addAll(value: unknown, name: string | null, depth: number): void {
    if (depth > MOST_DEPTH) return;
    if (typeof value === 'string' && name !== null) this.#add(name, value);
    else if (Array.isArray(value)) for (const each of value) this.#addAll(each, name, depth + 1);
    else if (isObject(value)) for (const [key, each] of Object.entries(value)) this.#addAll(each, key, depth + 1);
  }

  #add(name: string, text: string): void {
    const known = this.found.get(name);
    if (known === undefined) this.found.set(name, [text]);
    else if (known.length < MOST_TEXTS && !known.includes(text)) known.push(text);
  }
}
