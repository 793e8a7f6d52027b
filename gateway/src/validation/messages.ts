/** Validates messages of WebSockets against those of an API description (docs/reference/plugins.md#ws-upstream). */
import { isUtf8 } from 'node:buffer';
import type { Content, Operation } from '../artifact/format.ts';
import { parseLast, parseOnce } from '../json/parse-once.ts';
import { type StepBudget, StepsExceeded } from '../patterns/step-budget.ts';
import type { ProblemError } from '../problems.ts';
import { ContentRules } from './body.ts';
import type { Schemas } from './schemas.ts';

export const NOT_UTF8: ProblemError = { in: 'body', field: '/', reason: 'is not UTF-8 text' };

export class MessageRules {
  readonly #rules: ContentRules;
  readonly #steps: StepBudget;

  constructor(content: Content, schemas: Schemas, parse: (json: Uint8Array) => unknown) {
    this.#rules = new ContentRules(content, schemas, parse);
    this.#steps = schemas.steps;
  }

  /** Null where it is one of the messages that are described. */
  errors(message: Uint8Array): readonly ProblemError[] | null {
    if (!isUtf8(message)) return [NOT_UTF8];
    this.#steps.begin(0, message.length);
    let errors: readonly ProblemError[] | null = null;
    for (const range of this.#rules.ranges) {
      const found = this.#errorsAs(range, message);
      if (found === null) return null;
      errors ??= found;
    }
    return errors;
  }

  #errorsAs(range: string, message: Uint8Array): readonly ProblemError[] | null {
    try {
      return this.#rules.errors(range, message);
    } catch (error) {
      if (!(error instanceof StepsExceeded)) throw error;
      return [{ in: 'body', field: '/', reason: error.message }];
    }
  }
}

/** Of both directions of an operation's WebSockets. */
export interface WebSocketMessages {
  /** From clients; null where any may come. */
  readonly received: MessageRules | null;
  /** To clients; null where any may go. */
  readonly sent: MessageRules | null;
  /** Others than those that are described are not sent; else they are only reported. */
  readonly enforces: boolean;
  /** Bytes of a message that is held until it is whole. */
  readonly limit: number;
}

/** Null where any message of a broker may reach clients. */
export function streamedMessagesOf({ streamed_messages: content }: Operation, schemas: Schemas): MessageRules | null {
  return content === undefined ? null : new MessageRules(content, schemas, parseLast);
}

/** Null where no message is validated. */
export function webSocketMessagesOf(
  { messages, validate_response: mode }: Operation,
  schemas: Schemas,
  limit: number,
): WebSocketMessages | null {
  if (messages === undefined) return null;
  const { received, sent } = messages;
  return {
    received: received ? new MessageRules(received, schemas, parseOnce) : null,
    sent: sent ? new MessageRules(sent, schemas, parseLast) : null,
    enforces: mode === 'enforce',
    limit,
  };
}
