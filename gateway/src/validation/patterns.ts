/** Patterns of schemas: in linear time whatever the text, where RE2 can express them. */
import { RE2JS } from 're2js';

export interface Pattern {
  test(text: string): boolean;
}

class LinearPattern implements Pattern {
  readonly #source: string;
  readonly #compiled: RE2JS;
  constructor(source: string) {
    this.#source = source;
    this.#compiled = RE2JS.compile(RE2JS.translateRegExp(source));
  }
  test(text: string): boolean {
    return this.#compiled.matcher(text).find();
  }
  /** Ajv tells patterns apart by this: without it all of an artifact would be the first. */
  toString(): string {
    return this.#source;
  }
}

/** What RE2 cannot express (look-around, back-references) runs on the host's engine. */
export function regExp(pattern: string, flags: string): Pattern {
  try {
    return new LinearPattern(pattern);
  } catch {
    return new RegExp(pattern, flags);
  }
}
// Ajv writes this text into standalone code; we never make any.
regExp.code = 'regExp';
