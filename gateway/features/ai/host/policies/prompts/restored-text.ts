/** Puts values in the place of their placeholders in a text that comes in pieces, with one result in whatever pieces. */

import type { Steps } from '../../../../kit.ts';
import type { Guarding, TextStream } from '../answers/guarded-events.ts';

/** Characters of the longest placeholder: `[NATIONAL_ID:3f0c9a1b2d4e]`. */
const LONGEST = 26;
const BEGINS = /^\[[A-Za-z0-9_:]*$/;

/** `values`: by placeholder. */
export function restoring(values: ReadonlyMap<string, string>): Guarding {
  return {
    begin: (isJson) => new RestoredText(values, isJson),
    *whole(text, isJson) {
      const restored = new RestoredText(values, isJson);
      return (yield* restored.push(text)) + restored.end();
    },
  };
}

class RestoredText implements TextStream {
  readonly #values: ReadonlyMap<string, string>;
  readonly #isJson: boolean;
  /** May still become a placeholder. */
  #pending = '';

  /** `isJson`: the text is JSON, and stays so. */
  constructor(values: ReadonlyMap<string, string>, isJson: boolean) {
    this.#values = values;
    this.#isJson = isJson;
  }

  /** The work is quick, so it need not yield. */
  // biome-ignore lint/correctness/useYield: what is long is what others do here
  *push(piece: string): Steps<string> {
    const text = this.#pending + piece;
    let [out, from] = ['', 0];
    for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) {
      const start = text.slice(at, at + LONGEST);
      const end = start.indexOf(']');
      if (end < 0 && start.length < LONGEST && BEGINS.test(start)) {
        this.#pending = text.slice(at);
        return out + text.slice(from, at);
      }
      const value = end < 0 ? undefined : this.#values.get(start.slice(0, end + 1));
      if (value === undefined) continue;
      out += text.slice(from, at) + (this.#isJson ? JSON.stringify(value).slice(1, -1) : value);
      from = at + end + 1;
    }
    this.#pending = '';
    return out + text.slice(from);
  }

  end(): string {
    const rest = this.#pending;
    this.#pending = '';
    return rest;
  }
}
