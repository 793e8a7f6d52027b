/** The server has answered, and not with a result: the message says how it refused, and what it wants of who asks. */
import type { Obj } from '../../spec/json.ts';
import { get } from '../../spec/json.ts';
import type { Received } from './receive.ts';

export class McpRefusal extends Error {
  readonly status: number;
  /** Of the JSON-RPC error; null where the answer was none. */
  readonly code: number | null;
  /** Message of that error, without anything around it. */
  readonly said: string;
  readonly data: unknown;
  /** `WWW-Authenticate`. */
  readonly challenge: string | null;

  constructor({ status, headers, message, text }: Received) {
    const error: Obj | undefined = get(message, 'error') as Obj | undefined;
    const said = get(error, 'message') ?? get(message, 'detail') ?? get(message, 'title') ?? text.slice(0, 200);
    const code = get(error, 'code');
    const at = headers.findIndex((name, i) => i % 2 === 0 && name === 'www-authenticate');
    const challenge = at < 0 ? null : (headers[at + 1] ?? '');
    const what = typeof code === 'number' ? `HTTP ${status}, JSON-RPC error ${code}` : `HTTP ${status}`;
    super(`${what}: ${String(said)}${challenge === null ? '' : `\nWWW-Authenticate: ${challenge}`}`);
    this.status = status;
    this.code = Number.isSafeInteger(code) ? (code as number) : null;
    this.said = String(said);
    this.data = get(error, 'data');
    this.challenge = challenge;
  }
}
