/** How messages reach a server of MCP: one HTTP request each (streamable HTTP). */
import type { HeaderList } from '../../exchange.ts';

export interface SentRequest {
  readonly method: 'POST' | 'DELETE';
  /** Lower-case name and value in turn. */
  readonly headers: HeaderList;
  readonly body: string | null;
  readonly signal: AbortSignal;
}

/** An answer whose body is read as it comes. */
export interface StreamedAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  /** To be read to its end, once, or left; leaving it ends the call. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the call if its body has not been read. */
  cancel(): void;
  /** Called when the bytes received so far have left memory. */
  consumed?(): void;
}

export interface McpTransport {
  /** Rejects if the answer has no head. */
  send(request: SentRequest): Promise<StreamedAnswer>;
}
