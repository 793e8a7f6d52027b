/**
 * Texts that every call of a config finds at the same place: names of headers, values out of the config. They are
 * decoded once. Only bytes of the state that calls begin with are kept, so nothing of a request is, and the time of a
 * comparison tells nothing about another request's credentials.
 */

/** Bytes of the longest text that is kept: comparing more takes as long as decoding. */
const LONGEST = 96;
/** Texts that are kept for a config. */
const MOST = 256;

export class ConstantTexts {
  /** Memory that calls begin with. */
  readonly #state: Uint8Array;
  /** ASCII texts by their place. */
  readonly #texts = new Map<number, string>();

  constructor(state: Uint8Array) {
    this.#state = state;
  }

  /** Returns the text at this place of `memory`, which has so many bytes; null if the place does not hold the state. */
  at(memory: Buffer, start: number, length: number): string | null {
    if (length > LONGEST || start + length > this.#state.length) return null;
    const known = this.#texts.get(start);
    if (known !== undefined && known.length === length && isAt(memory, start, known)) return known;
    return this.#keep(memory, start, length);
  }

  #keep(memory: Buffer, start: number, length: number): string | null {
    const state = this.#state;
    for (let at = start; at < start + length; at++) {
      const byte = memory[at] ?? 0;
      if (byte >= 0x80 || byte !== state[at]) return null;
    }
    const text = memory.latin1Slice(start, start + length);
    if (this.#texts.size < MOST || this.#texts.has(start)) this.#texts.set(start, text);
    return text;
  }
}

function isAt(memory: Buffer, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (memory[start + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** For memory whose state is not known. */
export const NO_TEXTS = new ConstantTexts(new Uint8Array(0));
