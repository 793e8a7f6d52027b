/**
 * Preloaded into a gateway: a resolver as libuv has it, in half of the threads that the environment says, for which
 * name servers of `*.silent-N.example` never answer. All other names are 127.0.0.1.
 */
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';

type Found = readonly { readonly address: string; readonly family: number }[];

const NODE_DEFAULT = '4';
const waiting: { readonly host: string; readonly resolve: (found: Found) => void }[] = [];
let held = 0;

function next(): void {
  const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? NODE_DEFAULT);
  while (held < Math.floor((threads + 1) / 2)) {
    const turn = waiting.shift();
    if (turn === undefined) return;
    held++;
    if (/\.silent-\d+\.example$/.test(turn.host)) continue;
    setImmediate(() => {
      held--;
      turn.resolve([{ address: '127.0.0.1', family: 4 }]);
      next();
    });
  }
}

function lookup(host: string): Promise<Found> {
  return new Promise((resolve) => {
    waiting.push({ host, resolve });
    next();
  });
}

Object.assign(dns, { lookup });
syncBuiltinESMExports();
