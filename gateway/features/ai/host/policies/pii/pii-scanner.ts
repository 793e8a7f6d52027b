/**
 * Replaces personal data in a text that comes in pieces. It holds back only text that may still become a match, and its
 * output does not depend on the pieces.
 */

import type { Steps } from '../../../../kit.ts';
import { NONE, UNDECIDED } from './detector.ts';
import { DETECTORS, type PiiKind } from './kinds.ts';
import type { PiiAction, PiiReplacing } from './pii-rules.ts';

export interface PiiFinding {
  readonly kind: PiiKind;
  readonly action: PiiAction;
}

/** Characters of a text between two pauses. */
const SLICE = 16_384;

type Match = PiiFinding & { readonly length: number };

export class PiiScanner {
  readonly #rules: PiiReplacing;
  readonly #onFinding: (finding: PiiFinding) => void;
  readonly #isJson: boolean;
  #pending = '';
  /** The character before the pending text. */
  #before = '';
  #inString = false;

  /** `isJson`: the text is JSON, and stays so. `onFinding` may throw, which ends it. */
  constructor(rules: PiiReplacing, isJson: boolean, onFinding: (finding: PiiFinding) => void) {
    this.#rules = rules;
    this.#isJson = isJson;
    this.#onFinding = onFinding;
  }

  /** Scans a whole text at once. */
  static whole(rules: PiiReplacing, text: string, isJson: boolean, onFinding: (finding: PiiFinding) => void): string {
    const scanner = new PiiScanner(rules, isJson, onFinding);
    return scanner.push(text) + scanner.end();
  }

  push(piece: string): string {
    this.#pending += piece;
    return this.#advance(false);
  }

  /** Like `push`; yields between slices of a long piece. */
  *pushInSlices(piece: string): Steps<string> {
    if (piece.length <= SLICE) return this.push(piece);
    let out = '';
    for (let at = 0; at < piece.length; at += SLICE) {
      out += this.push(piece.slice(at, at + SLICE));
      yield;
    }
    return out;
  }

  /** Ends the text; returns its rest. */
  end(): string {
    return this.#advance(true);
  }

  #advance(isWhole: boolean): string {
    const text = this.#pending;
    let [out, at, from] = ['', 0, 0];
    while (at < text.length) {
      const escaped = this.#isJson && this.#inString && text.charAt(at) === '\\' ? escapeLength(text, at) : 0;
      if (escaped > 0) {
        if (at + escaped > text.length && !isWhole) break;
        at += escaped;
        this.#before = '';
        continue;
      }
      const match = this.#matchAt(text, at, isWhole);
      if (match === 'undecided') break;
      if (match === null) {
        this.#before = text.charAt(at++);
        if (this.#before === '"') this.#inString = !this.#inString;
        continue;
      }
      out += text.slice(from, at) + this.#replaced(match, text.slice(at, at + match.length));
      at += match.length;
      from = at;
      this.#before = text.charAt(at - 1);
    }
    this.#pending = text.slice(at);
    return out + text.slice(from, at);
  }

  /** The longest. */
  #matchAt(text: string, at: number, isWhole: boolean): Match | 'undecided' | null {
    let best: Match | null = null;
    for (const [kind, action] of this.#rules.kinds) {
      const length = DETECTORS[kind]({ text, isWhole }, at, this.#before);
      if (length === UNDECIDED) return 'undecided';
      if (length !== NONE && length > (best?.length ?? 0)) best = { kind, action, length };
    }
    return best;
  }

  #replaced({ kind, action }: Match, found: string): string {
    this.#onFinding({ kind, action });
    const text = this.#rules.replacement(kind, action, found);
    // A number of JSON becomes a string.
    return this.#isJson && !this.#inString ? JSON.stringify(text) : text;
  }
}

/** `\n`, `\u00e9` */
function escapeLength(text: string, at: number): number {
  return text.charAt(at + 1) === 'u' ? 6 : 2;
}
