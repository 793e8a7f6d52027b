/** The capabilities of a process: each is open from the first artifact that needs it until the process ends. */
import { hostFunctionTable } from '../wasm/host/host-functions.ts';
import type {
  ArtifactServices,
  Capability,
  LoadedCapability,
  OpenedCapability,
  ProcessServices,
} from './capability.ts';
import type { CapabilityImport } from './features.ts';

/** Capabilities of a process. */
export interface OpenCapabilities {
  /** Host functions by which dispatchers answer with another server's response; those of opened capabilities. */
  readonly relayingFunctions: ReadonlySet<string>;
  /** Loads the capabilities of these host functions for an artifact. */
  load(artifact: ArtifactServices, functions: ReadonlySet<string>): Promise<LoadedCapabilities>;
  /** Completes the remaining work of ended requests within that many milliseconds, since the process ends. */
  drain(withinMs: number): Promise<void>;
}

/** Capabilities of a loaded artifact. */
export interface LoadedCapabilities {
  readonly list: readonly LoadedCapability[];
  /** The artifact's last request has ended. */
  close(): void;
}

export function openCapabilities(all: readonly CapabilityImport[], process: ProcessServices): OpenCapabilities {
  const opened = new Map<CapabilityImport, Promise<OpenedCapability>>();
  const relayingFunctions = new Set<string>();
  const open = async ({ load }: CapabilityImport): Promise<OpenedCapability> => {
    const capability = await load();
    for (const [name, { relays }] of Object.entries(capability.functions)) if (relays) relayingFunctions.add(name);
    return capability.open(process);
  };
  const once = (each: CapabilityImport): Promise<OpenedCapability> => {
    const known = opened.get(each) ?? open(each);
    opened.set(each, known);
    return known;
  };
  return {
    relayingFunctions,
    drain: async (withinMs) => {
      await Promise.all([...opened.values()].map(async (each) => (await each).drain(withinMs)));
    },
    load: async (artifact, functions) =>
      loadedFor(artifact, await Promise.all(neededFor(functions, all).map((each) => once(each)))),
  };
}

/** Opens capabilities that are imported, and loads them. */
export function openAll(
  capabilities: readonly Capability[],
  process: ProcessServices,
  artifact: ArtifactServices,
): LoadedCapabilities {
  const opened = capabilities.map((each) => each.open(process));
  return loadedFor(artifact, opened);
}

/** Returns all where a function is unknown: the error says which there are. */
function neededFor(functions: ReadonlySet<string>, all: readonly CapabilityImport[]): readonly CapabilityImport[] {
  const known = new Set([...hostFunctionTable([]).keys(), ...all.flatMap((each) => each.functions)]);
  if ([...functions].some((name) => !known.has(name))) return all;
  return all.filter((each) => each.functions.some((name) => functions.has(name)));
}

function loadedFor(artifact: ArtifactServices, opened: readonly OpenedCapability[]): LoadedCapabilities {
  const list = opened.map((each) => each.load(artifact));
  return {
    list,
    close: () => {
      for (const each of list) each.close();
    },
  };
}
