/** A capability of the host from the runtime's side: its state is known to its own folder only (../capabilities/). */
import type { Call } from './call.ts';
import type { ConfigView } from './config-view.ts';
import type { HostCall, HostFunctionInfo } from './host-function.ts';
import type { CallServices } from './plugin.ts';

/** State of a capability for the calls of one instance. */
export interface CallState {
  /** The call has ended: lets go of all that belongs to its request. */
  end(): void;
}

/** A capability for one instance. */
export interface CapabilityInstance {
  /** Undefined if it keeps no state. */
  readonly state: CallState | undefined;
  make(name: string): HostCall;
}

export interface HostCapability {
  readonly functions: { readonly [name: string]: HostFunctionInfo };
  /** Reports whether a call of this function of it may have to suspend the plugin, as things are now. */
  mayWait(name: string): boolean;
  /** Returns its state for a config. Throws if the config cannot be used. */
  bind(config: ConfigView): unknown;
  /** `bound`: returns the result of `bind` for the config of the current call. */
  instantiate(call: Call, bound: () => unknown): CapabilityInstance;
}

/** Services of the gateway for the runtime. */
export interface PluginServices extends CallServices {
  /** Capabilities that plugins may declare; the runtime keeps their state for a config in this order. */
  readonly capabilities: readonly HostCapability[];
  /** CPU seconds of one call, for `gw_wasm_execution_duration_seconds`. */
  observe(plugin: string, fn: string): (seconds: number) => void;
}
