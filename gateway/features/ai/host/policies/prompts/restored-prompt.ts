/**
 * Personal data that a provider does not get, and the client does: placeholders in the prompt, and their values back in
 * the answer (docs/decisions.md#ai-restore). They are kept with the request, and are gone with it.
 */
import { createHmac } from 'node:crypto';
import { type RequestPart, RequestSlot } from '../../../../kit.ts';
import type { AnswerSink } from '../answers/rewritten-answer.ts';
import type { PiiKind } from '../pii/kinds.ts';
import type { PiiAction, PiiReplacing, PiiRules } from '../pii/pii-rules.ts';

/** Letters of a placeholder: one in a hundred trillion is another's. */
const LETTERS = 10;
const [A, ALPHABET] = ['a'.charCodeAt(0), 26];

/** Values taken out of the prompt of one request. */
export class RestoredPrompt implements RequestPart {
  readonly stored = null;
  readonly logged = '';
  /** The guard that puts it back: the first in the chain that has taken something out. */
  readonly owner: object | null;
  readonly values: Map<string, string>;
  tap: AnswerSink | null = null;

  constructor(owner: object | null, values: Map<string, string>) {
    this.owner = owner;
    this.values = values;
  }

  finished(): void {}
}

export const RESTORED_PROMPT = new RequestSlot<RestoredPrompt>();

/** Rules of one request: replaces some kinds so that they can be restored, and others as the rules say. */
export class RestorableRules implements PiiReplacing {
  readonly kinds: PiiReplacing['kinds'];
  /** Replaced values by placeholder. */
  readonly values = new Map<string, string>();
  readonly #rules: PiiRules;
  readonly #restored: ReadonlySet<PiiKind>;
  readonly #key: string;
  readonly #consumer: string;

  /** `consumer`: equal values have different placeholders for different consumers. */
  constructor(rules: PiiRules, { kinds, key }: Restoring, consumer: string) {
    this.kinds = rules.kinds;
    this.#rules = rules;
    this.#restored = kinds;
    this.#key = key;
    this.#consumer = consumer;
  }

  replacement(kind: PiiKind, action: PiiAction, found: string): string {
    const isRestored = this.#restored.has(kind);
    const plain = action === 'redact' && isRestored;
    const text = plain ? this.#placeholder(kind, found) : this.#rules.replacement(kind, action, found);
    if (isRestored && !this.values.has(text)) this.values.set(text, found);
    return text;
  }

  /** Returns a placeholder of letters alone, which cannot be read as a number. */
  #placeholder(kind: PiiKind, found: string): string {
    const digest = createHmac('sha256', this.#key)
      .update(JSON.stringify(['restore', this.#consumer, kind, found]))
      .digest();
    const letters = String.fromCharCode(...digest.subarray(0, LETTERS).map((byte) => A + (byte % ALPHABET)));
    return `[${kind.toUpperCase()}_${letters}]`;
  }
}

/** The kinds that are restored, and the key of their placeholders. */
export interface Restoring {
  readonly kinds: ReadonlySet<PiiKind>;
  readonly key: string;
}
