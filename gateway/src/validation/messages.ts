/** Validates messages of WebSockets against those of an API description (docs/reference/plugins.md#ws-upstream). */
import { isUtf8 } from 'node:buffer';
import type { Content, Operation } from '../artifact/format.ts';
import type { ProblemError } from '../problems.ts';
import { ContentCheck } from './content-check.ts';
import type { Repeats } from './helpers/messages.ts';
import { type Asker, errorsOf } from './helpers/validation-helpers.ts';
import type { Schemas } from './schemas/schemas.ts';

export const NOT_UTF8: ProblemError = { in: 'body', field: '/', reason: 'is not UTF-8 text' };

type Errors = readonly ProblemError[] | null;

export class MessageRules {
  readonly #check: ContentCheck;
  readonly #ranges: readonly string[];

  constructor(content: Content, schemas: Schemas, repeats: Repeats) {
    this.#check = new ContentCheck(content, schemas, repeats);
    this.#ranges = this.#check.rules.ranges;
  }

  /** Returns null if it is one of the messages that are described. */
  errors(message: Uint8Array, asker: Asker): Errors | Promise<Errors> {
    return isUtf8(message) ? this.#from(0, null, message, asker) : [NOT_UTF8];
  }

  /** Like `errors`, for callers that cannot wait: a message that takes too long is refused. */
  errorsNow(message: Uint8Array): Errors {
    if (!isUtf8(message)) return [NOT_UTF8];
    let errors: Errors = null;
    for (const range of this.#ranges) {
      const found = errorsOf(this.#check.verdictNow(range, message));
      if (found === null) return null;
      errors ??= found;
    }
    return errors;
  }

  /** Tries the content types from this one on. `first`: errors of the first of all. */
  #from(at: number, first: Errors, message: Uint8Array, asker: Asker): Errors | Promise<Errors> {
    let errors = first;
    for (const [i, range] of this.#ranges.entries()) {
      if (i < at) continue;
      const verdict = this.#check.verdict(range, message, asker);
      if (verdict instanceof Promise) {
        const tried = errors;
        return verdict.then(errorsOf).then((found) => found && this.#from(i + 1, tried ?? found, message, asker));
      }
      const found = errorsOf(verdict);
      if (found === null) return null;
      errors ??= found;
    }
    return errors;
  }
}

/** Rules for both directions of an operation's WebSockets. */
export interface WebSocketMessages {
  /** Rules for messages from clients; null if any may come. */
  readonly received: MessageRules | null;
  /** Rules for messages to clients; null if any may pass. */
  readonly sent: MessageRules | null;
  /** Others than those that are described are not sent; else they are only reported. */
  readonly enforces: boolean;
  /** Bytes of a message that is held until it is whole. */
  readonly limit: number;
}

/** Returns null if any message of a broker may reach clients. */
export function streamedMessagesOf({ streamed_messages: content }: Operation, schemas: Schemas): MessageRules | null {
  return content === undefined ? null : new MessageRules(content, schemas, 'last');
}

/** Returns null if no message is validated. */
export function webSocketMessagesOf(
  { messages, validate_response: mode }: Operation,
  schemas: Schemas,
  limit: number,
): WebSocketMessages | null {
  if (messages === undefined) return null;
  const { received, sent } = messages;
  return {
    received: received ? new MessageRules(received, schemas, 'refused') : null,
    sent: sent ? new MessageRules(sent, schemas, 'last') : null,
    enforces: mode !== 'log',
    limit,
  };
}
