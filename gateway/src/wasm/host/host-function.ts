/** The shape of a host function: one row of the ABI. */
import type { Call } from '../call.ts';
import type { PluginServices } from '../plugin.ts';

export interface HostFunction {
  /** Parameter types and, after `:`, the result's: `i` i32, `d` f64; as in sdk/ABI.md. */
  readonly signature: string;
  /** It may return a promise, which suspends the plugin; a function where that depends on what is behind it. */
  readonly waits?: true | ((services: PluginServices) => boolean);
  /** It must be named in `host_functions` of plugin.toml. */
  readonly declared?: true;
  /** It needs this body declared as `buffer` in plugin.toml. */
  readonly body?: 'request_body' | 'response_body';
  /** Made once for each instance; called with WebAssembly numbers. */
  make(call: Call): (...args: number[]) => number | Promise<number> | undefined;
}

export type HostFunctions = { readonly [name: string]: HostFunction };
