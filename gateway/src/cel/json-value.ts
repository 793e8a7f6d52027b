/** JSON as values of the language, wrapped when they are looked at: a body may hold much that no expression asks for. */
import { type CelInput, type CelMap, celList, celMap } from '@bufbuild/cel';

/** Numbers are doubles, as the language has JSON. */
export function jsonValue(value: unknown): CelInput {
  if (typeof value !== 'object' || value === null) return scalar(value);
  if (Array.isArray(value)) return celList(value.map(jsonValue));
  return mapOf(new JsonObjectView(value));
}

/** A map of strings; `has` is the view's own, since the library's finds no key whose value is null. */
export function mapOf(view: ReadonlyMap<string, CelInput>): CelMap {
  return Object.assign(celMap(view), { has: (key: unknown) => typeof key === 'string' && view.has(key) });
}

function scalar(value: unknown): CelInput {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return null;
}

/** An object's own members; those with the names of JavaScript's own are members like others. */
class JsonObjectView implements ReadonlyMap<string, CelInput> {
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #seen = new Map<string, CelInput>();

  constructor(object: object) {
    this.#members = new Map(Object.entries(object));
  }

  get size(): number {
    return this.#members.size;
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  get(key: string): CelInput | undefined {
    const seen = this.#seen.get(key);
    if (seen !== undefined || !this.#members.has(key)) return seen;
    const value = jsonValue(this.#members.get(key));
    this.#seen.set(key, value);
    return value;
  }

  keys(): MapIterator<string> {
    return this.#members.keys();
  }

  *values(): MapIterator<CelInput> {
    for (const key of this.#members.keys()) yield this.get(key) ?? null;
  }

  *entries(): MapIterator<[string, CelInput]> {
    for (const key of this.#members.keys()) yield [key, this.get(key) ?? null];
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }

  forEach(callback: (value: CelInput, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }
}
