/** What plugins need of the outside where no gateway is around them: tests and benchmarks, on open egress. */
import { readFileSync } from 'node:fs';
import { BufferBudget } from '../buffer-budget.ts';
import { EgressGuard } from '../egress/guard.ts';
import { HttpClient } from '../egress/http-client.ts';
import { MemoryCacheStore } from '../state/memory-cache-store.ts';
import { Directories } from './directory/directories.ts';
import type { TokenLog } from './tokens/outage.ts';
import { Tokens } from './tokens/tokens.ts';

export function standaloneOutside(log: TokenLog = () => {}) {
  const guard = new EgressGuard({ allowInternal: true, allow: [] });
  const http = new HttpClient({
    guard,
    allowPlaintext: true,
    maxResponseBytes: 16 << 20,
    budget: new BufferBudget(256 << 20),
  });
  const tokens = new Tokens(http, log).scope();
  const directories = new Directories({
    guard,
    log,
    cache: new MemoryCacheStore(),
    readPem: (path) => readFileSync(path, 'utf8'),
  });
  return {
    http,
    tokens,
    directories,
    close: () => {
      tokens.close();
      directories.close();
      void http.close();
    },
  };
}
