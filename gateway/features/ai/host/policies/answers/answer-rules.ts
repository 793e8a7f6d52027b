/** Rules for the content of answers: the settings of a profile, and its findings. */

import type { Json, JsonObject, Steps } from '../../../../kit.ts';
import { BlockedPatterns } from '../blocked-patterns.ts';
import type { PiiKind } from '../pii/kinds.ts';
import type { PiiAction } from '../pii/pii-rules.ts';
import { PiiRules } from '../pii/pii-rules.ts';
import { PiiScanner } from '../pii/pii-scanner.ts';
import { textsOf } from '../profiles.ts';

export interface AnswerRules {
  readonly pii: PiiRules;
  readonly blocked: BlockedPatterns;
}

export type FindingKind = PiiKind | 'pattern';

/** Thrown if an answer must not go on. Its message is for the log. */
export class AnswerBlocked extends Error {}

/** Characters before a piece that patterns see with it: longest match that is found across pieces. */
const WINDOW = 1024;

export function answerRules(settings: JsonObject, hashKey: Json | undefined): AnswerRules {
  return {
    pii: new PiiRules(settings['pii'], hashKey),
    blocked: new BlockedPatterns(textsOf(settings['blocked_patterns'])),
  };
}

/** One text of an answer, as it comes. */
export class GuardedText {
  readonly #rules: AnswerRules;
  readonly #scanner: PiiScanner;
  /** Text that patterns still see. */
  #seen = '';

  constructor(rules: AnswerRules, isJson: boolean, onFinding: (kind: FindingKind, action: PiiAction) => void) {
    this.#rules = rules;
    this.#scanner = new PiiScanner(rules.pii, isJson, ({ kind, action }) => {
      onFinding(kind, action);
      if (action === 'block') throw new AnswerBlocked(`pii.${kind}`);
    });
  }

  /** Throws AnswerBlocked. */
  *push(piece: string): Steps<string> {
    yield* this.#match(piece);
    return yield* this.#scanner.pushInSlices(piece);
  }

  end(): string {
    return this.#scanner.end();
  }

  *#match(piece: string): Steps<void> {
    const { blocked } = this.#rules;
    if (blocked.isEmpty || piece === '') return;
    const text = this.#seen + piece;
    this.#seen = text.slice(-WINDOW);
    const found = yield* blocked.find(text);
    if (found === 'steps') throw new AnswerBlocked('the patterns take too many steps');
    if (found !== null) throw new AnswerBlocked(`blocked_patterns[${found.pattern}]`);
  }
}
