/**
 * Validates bodies and messages in this process if that is quick, and else in a helper process
 * (docs/decisions.md#validation-in-helpers).
 */
import type { Content } from '../artifact/format.ts';
import { type StepBudget, StepsExceeded, TimeExceeded } from '../patterns/step-budget.ts';
import { ContentRules } from './content-rules.ts';
import type { Repeats } from './helpers/messages.ts';
import type { Asker, Verdict } from './helpers/validation-helpers.ts';
import { InlinePace, MOST_INLINE_BYTES } from './inline-pace.ts';
import type { Schemas } from './schemas/schemas.ts';

export class ContentCheck {
  readonly rules: ContentRules;
  readonly #content: Content;
  readonly #repeats: Repeats;
  readonly #schemas: Schemas;
  readonly #steps: StepBudget;
  readonly #pace = new InlinePace();

  /** `repeats`: treatment of objects with a repeated member in JSON texts (docs/decisions.md#one-reading). */
  constructor(content: Content, schemas: Schemas, repeats: Repeats) {
    this.rules = new ContentRules(content, schemas, repeats);
    this.#content = content;
    this.#repeats = repeats;
    this.#schemas = schemas;
    this.#steps = schemas.steps;
  }

  /** Returns null if the body is valid. `usedSteps`: steps that the request has taken before. */
  verdict(contentType: string, body: Uint8Array, asker: Asker, usedSteps = 0): Verdict | Promise<Verdict> {
    const { helpers } = this.#schemas;
    const isHeavy = this.rules.isHeavy(contentType);
    const inHelper = () => {
      const content = this.#content;
      const prepares = this.rules.schemaOf(contentType)?.$ref ?? '';
      const about = { kind: 'content', prepares, isHeavy } as const;
      const work = { ...about, content, repeats: this.#repeats, contentType, body, usedSteps };
      return helpers?.validate(work, asker) ?? null;
    };
    if (helpers !== null && (body.length > MOST_INLINE_BYTES || isHeavy)) return inHelper();
    const verdict = this.verdictNow(contentType, body, usedSteps);
    return verdict?.kind === 'deadline' && helpers !== null ? inHelper() : verdict;
  }

  /** Like `verdict`, for callers that cannot wait: work past the event loop's limit is refused. */
  verdictNow(contentType: string, body: Uint8Array, usedSteps = 0): Verdict {
    this.#steps.begin(usedSteps, body.length, this.#pace.limit);
    try {
      const errors = this.rules.errors(contentType, body);
      this.#pace.completed();
      return errors && { kind: 'invalid', errors };
    } catch (error) {
      if (!(error instanceof StepsExceeded)) throw error;
      if (!(error instanceof TimeExceeded)) return { kind: 'steps' };
      this.#pace.exceeded();
      return { kind: 'deadline' };
    }
  }
}
