/** What plugins need of the outside where no gateway is around them: tests and benchmarks, on open egress. */
import { EgressGuard } from '../egress/guard.ts';
import { HttpClient } from '../egress/http-client.ts';
import type { TokenLog } from './outage.ts';
import { Tokens } from './tokens.ts';

export function standaloneOutside(log: TokenLog = () => {}) {
  const http = new HttpClient({
    guard: new EgressGuard({ allowInternal: true, allow: [] }),
    allowPlaintext: true,
    maxResponseBytes: 16 << 20,
  });
  const tokens = new Tokens(http, log).scope();
  return {
    http,
    tokens,
    close: () => {
      tokens.close();
      void http.close();
    },
  };
}
