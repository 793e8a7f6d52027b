/**
 * Checks that headers agree with the arguments that they repeat (revision 2026-07-28, `x-mcp-header`). Apart from
 * parameter-headers.ts, since browsers load that.
 */
import { type HeaderList, headerOf } from '../../exchange.ts';
import type { Obj } from '../../spec/json.ts';
import { mustMatch } from '../protocol/request-headers.ts';
import { type ParameterHeader, textAt } from './parameter-headers.ts';

/** Throws RpcError if a client's headers say something else than its arguments. */
export function mustMatchArguments(sent: HeaderList, headers: readonly ParameterHeader[], args: Obj): void {
  for (const { header, path } of headers) {
    const text = textAt(args, path);
    if (text !== null || headerOf(sent, header) !== undefined) mustMatch(sent, header, text ?? '');
  }
}
