/** Members of a client's or a provider's JSON, in the types that they must have. `null` counts as absent. */

import { get, isObject, isWrittenNumber, type JsonNumber, type Obj, plainNumber } from '../../../../kit.ts';
import { invalid } from './refusal.ts';

/** Reads one object of a request; refuses invalid values by their path. */
export class Members {
  readonly object: Obj;
  readonly #path: string;

  constructor(object: unknown, path: string) {
    if (!isObject(object) || isWrittenNumber(object)) throw invalid(path, 'an object');
    this.object = object;
    this.#path = path;
  }

  /** Returns a path such as `messages[1].content`, for error messages. */
  at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  value(name: string): unknown {
    return get(this.object, name) ?? null;
  }

  has(name: string): boolean {
    return this.value(name) !== null;
  }

  text(name: string): string | null {
    const value = this.value(name);
    if (value !== null && typeof value !== 'string') throw invalid(this.at(name), 'a string');
    return value;
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === null) throw invalid(this.at(name), 'a string');
    return value;
  }

  /** Returns the number with the digits that it came with. */
  number(name: string): JsonNumber | null {
    const value = this.value(name);
    if (value !== null && typeof value !== 'number' && !isWrittenNumber(value))
      throw invalid(this.at(name), 'a number');
    return value;
  }

  /** Returns null if it is absent. */
  count(name: string): number | null {
    const value = plainNumber(this.value(name));
    if (value !== null && (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1))
      throw invalid(this.at(name), 'an integer above 0');
    return value;
  }

  flag(name: string): boolean | null {
    const value = this.value(name);
    if (value !== null && typeof value !== 'boolean') throw invalid(this.at(name), 'true or false');
    return value;
  }

  /** Returns an empty list if it is absent. */
  list(name: string): readonly unknown[] {
    const value = this.value(name);
    if (value === null) return [];
    if (!Array.isArray(value)) throw invalid(this.at(name), 'a list');
    return value;
  }

  /** The objects of a list. */
  each(name: string): readonly Members[] {
    return this.list(name).map((each, i) => new Members(each, `${this.at(name)}[${i}]`));
  }

  /** Returns null if it is absent. */
  member(name: string): Members | null {
    return this.has(name) ? new Members(this.value(name), this.at(name)) : null;
  }

  required(name: string): Members {
    return new Members(this.value(name), this.at(name));
  }
}
