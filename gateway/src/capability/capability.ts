/**
 * A capability of the host: an engine that plugins declare. Its folder holds its state for a process, an artifact, a
 * config and a call, each of a type of its own, and its host functions; `features/features.ts` lists it.
 */

import type { EgressGuard } from '../egress/guard.ts';
import type { HttpCaller } from '../egress/http-client.ts';
import type { ReadPem } from '../egress/upstream.ts';
import type { State } from '../state/state.ts';
import type { LabelledCounter } from '../telemetry/labelled-counter.ts';
import type { LabelledHistogram } from '../telemetry/labelled-histogram.ts';
import type { CounterInfo, HistogramInfo, LabelledValue, SampledInfo } from '../telemetry/metric-table.ts';
import type { CallState, HostCapability } from '../wasm/call/capability.ts';
import type { ConfigView } from '../wasm/call/config-view.ts';
import type { HostFunction, HostFunctionInfo } from '../wasm/call/host-function.ts';

/** Services of the process for a capability. */
export interface ProcessServices {
  readonly state: State;
  /** Calls out, through the egress guard. */
  readonly http: HttpCaller;
  readonly guard: EgressGuard;
  /** Registers a counter out of `metrics`; once a process. */
  counter(name: string, info: CounterInfo): LabelledCounter;
  /** Registers a metric from `metrics` whose values the capability keeps; once a process. */
  sampled(name: string, info: SampledInfo, values: () => LabelledValue[]): void;
  /** The same for a histogram. */
  histogram(name: string, info: HistogramInfo): LabelledHistogram;
  log(level: 'info' | 'error', message: string): void;
}

/** Services of the loaded artifact for a capability. */
export interface ArtifactServices {
  /** Reads files that its secrets may be in. */
  readonly readPem: ReadPem;
  /** Entries that its configs are compiled to, by path. */
  readonly data: ReadonlyMap<string, Uint8Array>;
  log(level: 'info' | 'error', plugin: string, message: string): void;
}

type CapabilityMetrics = Readonly<Record<string, CounterInfo | HistogramInfo | SampledInfo>>;

/** Documentation of a function for authors of plugins. */
interface FunctionText {
  /** Parameters and result by name, as in sdk/ABI.md: `len` is the length of what stands before it, `cap` the room there. */
  readonly parameters: string;
  /** Markdown, for a row of sdk/ABI.md. */
  readonly meaning: string;
}

export interface CapabilityFunctionInfo extends HostFunctionInfo, FunctionText {}

/** A function of a capability whose functions are in several files. */
export interface CapabilityFunction<Own, Loaded> extends HostFunction<Own, Loaded>, FunctionText {}

/** State of its functions in an instance. */
export interface Own<Loaded, Bound = undefined, State = undefined> {
  readonly loaded: Loaded;
  /** State for the config of the current call. */
  readonly bound: () => Bound;
  /** State of the current call; one object for all calls of an instance. */
  readonly state: State;
}

interface Definition<Opened, Loaded, Bound, State> {
  /** Its metrics, by name; registered in `open`. */
  readonly metrics?: CapabilityMetrics;
  readonly functions: { readonly [name: string]: CapabilityFunction<Own<Loaded, Bound, State>, Loaded> };
  /** Once for a process. */
  open?(process: ProcessServices): Opened;
  /** Called once for an artifact; default: the result of `open`. */
  load?(opened: Opened, artifact: ArtifactServices): Loaded;
  /** Once for a config, before the plugin's `init`. Throws if the config cannot be used. */
  bind?(loaded: Loaded, config: ConfigView): Bound;
  /** Once for an instance. */
  call?(): State;
  /** The artifact's last request has ended. */
  close?(loaded: Loaded): void;
  /** The process ends: completes the remaining work of ended requests, within that many milliseconds. */
  drain?(opened: Opened, withinMs: number): Promise<void>;
}

export interface LoadedCapability extends HostCapability {
  close(): void;
}

export interface OpenedCapability {
  load(artifact: ArtifactServices): LoadedCapability;
  /** Completes its remaining work, at the latest after that many milliseconds. */
  drain(withinMs: number): Promise<void>;
}

/** A capability, with its types hidden in its folder. */
export interface Capability {
  readonly metrics: CapabilityMetrics;
  readonly functions: { readonly [name: string]: CapabilityFunctionInfo };
  open(process: ProcessServices): OpenedCapability;
}

/**
 * Members that a definition leaves out are undefined, and so are their type parameters: the assertions here cover
 * those.
 */
export function capability<
  Opened = undefined,
  Loaded = Opened,
  Bound = undefined,
  State extends CallState | undefined = undefined,
>(definition: Definition<Opened, Loaded, Bound, State>): Capability {
  const { functions, metrics = {} } = definition;
  return {
    functions,
    metrics,
    open(process) {
      const opened = definition.open?.(process) as Opened;
      return {
        load: (artifact) => loaded(definition, (definition.load?.(opened, artifact) ?? opened) as Loaded),
        drain: async (withinMs) => definition.drain?.(opened, withinMs),
      };
    },
  };
}

function loaded<Opened, Loaded, Bound, State extends CallState | undefined>(
  definition: Definition<Opened, Loaded, Bound, State>,
  loaded: Loaded,
): LoadedCapability {
  const { functions } = definition;
  return {
    functions,
    mayWait(name) {
      const waits = functions[name]?.waits;
      return typeof waits === 'function' ? waits(loaded) : waits === true;
    },
    bind: (config) => definition.bind?.(loaded, config),
    instantiate(call, bound) {
      const state = definition.call?.() as State;
      const own = { loaded, bound: bound as () => Bound, state };
      return {
        state,
        make(name) {
          const found = functions[name];
          if (found === undefined) throw new Error(`the capability has no function ${name}`);
          return found.make(call, own);
        },
      };
    },
    close: () => definition.close?.(loaded),
  };
}
