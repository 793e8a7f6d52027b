/** Which messages of a topic reach clients: those that the API description has (docs/decisions.md#streams-validated). */

import type { DescribedMessages } from '../../../kit.ts';
import type { StreamMessage } from './topic-source.ts';

/** The check of one operation: the same for all its clients, so that a batch is checked once for all of them. */
export class MessageCheck {
  readonly #described: DescribedMessages;
  readonly #count: (dropped: number) => void;

  /** `count`: called with the number of dropped messages of a batch. */
  constructor(described: DescribedMessages, count: (dropped: number) => void) {
    this.#described = described;
    this.#count = count;
  }

  /**
   * Returns the messages that no client gets. A message without payload says that its key has been deleted, and always
   * passes.
   */
  dropped(messages: readonly StreamMessage[]): ReadonlySet<StreamMessage> {
    const dropped = new Set(
      messages.filter(({ payload }) => payload !== null && this.#described.errorsNow(payload) !== null),
    );
    if (dropped.size > 0) this.#count(dropped.size);
    return dropped;
  }
}
