/** A plugin runtime that loads modules and binds configs, and serves nothing. */
import { rootCertificates } from 'node:tls';
import { Directories } from '../capabilities/directory/directories.ts';
import { Tokens } from '../capabilities/tokens/tokens.ts';
import { EgressGuard } from '../egress/guard.ts';
import { MemoryCacheStore } from '../state/memory-cache-store.ts';
import { MemoryState } from '../state/memory-state.ts';
import { createPluginRuntime, type PluginRuntime } from '../wasm/index.ts';

/**
 * Plugins may open in `init` what they may open in a gateway, with nothing behind it: no network, no file
 * (docs/decisions.md#references-stay-inside).
 */
export function loadOnlyRuntime(): { readonly runtime: PluginRuntime; readonly close: () => void } {
  const never = new Promise<never>(() => {});
  const http = { call: () => never };
  const tokens = new Tokens(http, () => {}).scope();
  const directories = new Directories({
    guard: new EgressGuard({ allowInternal: false, allow: [] }),
    log: () => {},
    cache: new MemoryCacheStore(),
    // Some certificate: which one it will be is not known here.
    readPem: () => rootCertificates[0] ?? '',
  });
  const runtime = createPluginRuntime({
    state: new MemoryState(),
    http,
    tokens,
    directories,
    openUpstream: (url) => ({ name: url }),
    log: () => {},
    observe: () => () => {},
  });
  return {
    runtime,
    close: () => {
      runtime.close();
      tokens.close();
      directories.close();
    },
  };
}
