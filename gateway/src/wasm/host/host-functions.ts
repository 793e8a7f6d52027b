/** The host functions of a runtime: those that every plugin has, and those of its capabilities. */

import { PluginLoadError } from '../binary/plugin-load-error.ts';
import type { Call } from '../call/call.ts';
import type { CallState, CapabilityInstance, HostCapability } from '../call/capability.ts';
import type { ConfigView } from '../call/config-view.ts';
import type { HostFunctionInfo, HostFunctions } from '../call/host-function.ts';
import { chunkFunctions } from './chunk.ts';
import { clockFunctions } from './clock.ts';
import { configFunctions } from './config.ts';
import { contextFunctions } from './context.ts';
import { randomFunctions } from './random.ts';
import { requestFunctions } from './request.ts';
import { requestBodyFunctions } from './request-body.ts';
import { requestHeaderFunctions } from './request-headers.ts';
import { responseFunctions } from './response.ts';

/** The host functions that every plugin has: its config, the request, the response, bodies, time and random bytes. */
const CORE_FUNCTIONS: HostFunctions = {
  ...configFunctions,
  ...requestFunctions,
  ...requestHeaderFunctions,
  ...requestBodyFunctions,
  ...contextFunctions,
  ...responseFunctions,
  ...chunkFunctions,
  ...clockFunctions,
  ...randomFunctions,
};

/** The module that plugins import from. Another version of the ABI has another name. */
export const ABI_MODULE = 'gw_abi_1';

export type HostFunctionTable = ReadonlyMap<string, HostFunctionInfo>;

/** Returns the functions that plugins can import from ABI_MODULE, by name. */
export function hostFunctionTable(capabilities: readonly Pick<HostCapability, 'functions'>[]): HostFunctionTable {
  return new Map<string, HostFunctionInfo>([
    ...Object.entries(CORE_FUNCTIONS),
    ...capabilities.flatMap(({ functions }) => Object.entries(functions)),
  ]);
}

/** Imports of an instance, and the state of capabilities for its calls. */
export interface InstanceImports {
  readonly imports: Record<string, WebAssembly.ImportValue>;
  readonly states: readonly CallState[];
}

export class RuntimeFunctions {
  readonly table: HostFunctionTable;
  readonly #capabilities: readonly HostCapability[];
  /** Places of the capabilities in the list, by the names of their functions. */
  readonly #places: ReadonlyMap<string, number>;

  constructor(capabilities: readonly HostCapability[]) {
    this.#capabilities = capabilities;
    this.table = hostFunctionTable(capabilities);
    this.#places = new Map(
      capabilities.flatMap(({ functions }, place) => Object.keys(functions).map((name) => [name, place])),
    );
  }

  /** Reports whether a call of this host function may have to suspend the plugin, as things are now. */
  mayWait(name: string): boolean {
    const capability = this.#capabilities[this.#places.get(name) ?? -1];
    return capability ? capability.mayWait(name) : this.table.get(name)?.waits === true;
  }

  /** Returns the state of each capability for a config, in the order of the list. */
  bind(config: ConfigView): readonly unknown[] {
    return this.#capabilities.map((capability) => capability.bind(config));
  }

  importsFor(names: readonly string[], call: Call): InstanceImports {
    const imports: Record<string, WebAssembly.ImportValue> = {};
    const used = new Map<number, CapabilityInstance>();
    for (const name of names) {
      const place = this.#places.get(name);
      const host =
        place === undefined ? CORE_FUNCTIONS[name]?.make(call, undefined) : this.#of(place, call, used)?.make(name);
      if (host === undefined) throw new PluginLoadError(`there is no host function ${name}`);
      imports[name] = this.table.get(name)?.waits && call.suspends ? new WebAssembly.Suspending(host) : host;
    }
    return { imports, states: [...used.values()].flatMap(({ state }) => state ?? []) };
  }

  /** The capability at this place of the list, once for an instance. */
  #of(place: number, call: Call, used: Map<number, CapabilityInstance>): CapabilityInstance | undefined {
    const instance = used.get(place) ?? this.#capabilities[place]?.instantiate(call, () => call.binding.bound[place]);
    if (instance) used.set(place, instance);
    return instance;
  }
}
