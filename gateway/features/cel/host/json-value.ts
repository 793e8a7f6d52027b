/** JSON as values of the language, wrapped when they are looked at: a body may hold much that no expression asks for. */
import { type CelInput, type CelList, type CelMap, celList, celMap } from '@bufbuild/cel';
import { get, isObject, type Obj } from '../../kit.ts';

/** Numbers are doubles, as the language has JSON. */
export function jsonValue(value: unknown): CelInput {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (isObject(value)) return mapOf(new JsonObjectView(value));
  return Array.isArray(value) ? listOf(value) : null;
}

/** A map of strings; `has` is replaced, since the library's ignores keys whose value is null. */
export function mapOf(view: ReadonlyMap<string, CelInput>): CelMap {
  return Object.assign(celMap(view), { has: (key: unknown) => typeof key === 'string' && view.has(key) });
}

/** Elements are wrapped one by one; the library's own list would take objects apart by JavaScript's rules. */
function listOf(values: readonly unknown[]): CelList {
  const elements = function* () {
    for (const each of values) yield jsonValue(each);
  };
  const at = (index: number | bigint) => {
    const i = Number(index);
    return Number.isInteger(i) && i >= 0 && i < values.length ? jsonValue(values[i]) : undefined;
  };
  return Object.defineProperties(celList([]), {
    size: { value: values.length },
    get: { value: at },
    values: { value: elements },
    [Symbol.iterator]: { value: elements },
  });
}

/** An object's own members; those with the names of JavaScript's own are members like others. */
class JsonObjectView implements ReadonlyMap<string, CelInput> {
  readonly #object: Obj;
  #names: readonly string[] | null = null;
  readonly #seen = new Map<string, CelInput>();

  constructor(object: Obj) {
    this.#object = object;
  }

  get size(): number {
    return this.#keys().length;
  }

  #keys(): readonly string[] {
    this.#names ??= Object.keys(this.#object);
    return this.#names;
  }

  /** The library also asks for numbers, which never are keys here. */
  has(key: unknown): boolean {
    return typeof key === 'string' && Object.hasOwn(this.#object, key);
  }

  get(key: string): CelInput | undefined {
    const seen = this.#seen.get(key);
    if (seen !== undefined || !this.has(key)) return seen;
    const value = jsonValue(get(this.#object, key));
    this.#seen.set(key, value);
    return value;
  }

  keys(): MapIterator<string> {
    return this.#keys().values();
  }

  *values(): MapIterator<CelInput> {
    for (const key of this.#keys()) yield this.get(key) ?? null;
  }

  *entries(): MapIterator<[string, CelInput]> {
    for (const key of this.#keys()) yield [key, this.get(key) ?? null];
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }

  forEach(callback: (value: CelInput, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }
}
