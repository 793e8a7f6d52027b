/** The shape of a host function: one row of the ABI. */
import type { Call } from './call.ts';

/** A host function as an instance calls it, with WebAssembly numbers. */
export type HostCall = (...args: number[]) => number | Promise<number> | undefined;

/** Facts about a host function that need no process. */
export interface HostFunctionInfo {
  /** Parameter types and, after `:`, the result's: `i` i32, `d` f64; as in sdk/ABI.md. */
  readonly signature: string;
  /** It may return a promise, which suspends the plugin; a function if that depends on the capability's state. */
  readonly waits?: true | ((loaded: never) => boolean);
  /** It must be named in `host_functions` of plugin.toml. */
  readonly declared?: true;
  /** A dispatcher that declares it answers with another server's response: that server decides about `Accept`. */
  readonly relays?: true;
  /** It needs this body declared as `buffer` in plugin.toml. */
  readonly body?: 'request_body' | 'response_body';
}

/** `Own`: state of its capability for an instance; `Loaded`: its state for an artifact. */
export interface HostFunction<Own = undefined, Loaded = undefined> extends HostFunctionInfo {
  readonly waits?: true | ((loaded: Loaded) => boolean);
  /** Made once for each instance. */
  make(call: Call, own: Own): HostCall;
}

export type HostFunctions<Own = undefined, Loaded = undefined> = { readonly [name: string]: HostFunction<Own, Loaded> };
