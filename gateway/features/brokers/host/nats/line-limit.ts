/**
 * Reads the lines of a server ahead of the client library, which prints unreadable ones to standard output, holds an
 * endless line, and reads on as long as a server sends.
 */
import { Kind, Parser, type ParserEvent } from '@nats-io/nats-core/internal';

/** Bytes of a line without the payload of a message: `INFO` names all servers of a cluster. */
export const MOST_LINE = 1 << 20;
/** Most unexpected lines in a row: some are under way when a subscription ends. */
const MOST_LINES = 10_000;
/** Most unexpected bytes in a row: more than the largest message. */
const MOST_BYTES = 96 << 20;

export class LineLimit {
  readonly #isAwaited: (event: ParserEvent) => boolean;
  readonly #parser: Parser;
  #lines = 0;
  #bytes = 0;

  /** `isAwaited`: reports whether the line is expected. */
  constructor(isAwaited: (event: ParserEvent) => boolean) {
    this.#isAwaited = isAwaited;
    this.#parser = new Parser({ push: (event) => ('kind' in event ? this.#count(event) : undefined) });
  }

  /** Returns why the connection ends; null if it goes on. */
  faultOf(bytes: Uint8Array): string | null {
    this.#bytes += bytes.length;
    try {
      this.#parser.parse(bytes);
    } catch {
      return 'the server sent bytes that are not NATS';
    }
    if ((this.#parser.argBuf?.length ?? 0) > MOST_LINE) return 'a line of the server is too long';
    if (this.#lines > MOST_LINES || this.#bytes > MOST_BYTES)
      return 'the server sends too much that no subscription is for';
    return null;
  }

  #count(event: ParserEvent): void {
    this.#lines++;
    if (event.kind === Kind.INFO) JSON.parse(Buffer.from(event.data ?? []).toString());
    if (!this.#isAwaited(event)) return;
    this.#lines = 0;
    this.#bytes = 0;
  }
}
