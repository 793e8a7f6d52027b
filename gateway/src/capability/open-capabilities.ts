/** The capabilities of a process: open until it ends, and loaded for each artifact. */
import type { ArtifactServices, Capability, LoadedCapability, ProcessServices } from './capability.ts';

/** Capabilities of a process, open until it ends. */
export interface OpenCapabilities {
  /** Host functions by which dispatchers answer with another server's response. */
  readonly relayingFunctions: ReadonlySet<string>;
  load(artifact: ArtifactServices): LoadedCapabilities;
  /** Completes the remaining work of ended requests within that many milliseconds, since the process ends. */
  drain(withinMs: number): Promise<void>;
}

/** Capabilities of a loaded artifact. */
interface LoadedCapabilities {
  readonly list: readonly LoadedCapability[];
  /** The artifact's last request has ended. */
  close(): void;
}

export function openCapabilities(capabilities: readonly Capability[], process: ProcessServices): OpenCapabilities {
  const opened = capabilities.map((each) => each.open(process));
  const functions = capabilities.flatMap((each) => Object.entries(each.functions));
  return {
    relayingFunctions: new Set(functions.filter(([, { relays }]) => relays).map(([name]) => name)),
    drain: async (withinMs) => {
      await Promise.all(opened.map((each) => each.drain(withinMs)));
    },
    load(artifact) {
      const list = opened.map((each) => each.load(artifact));
      return {
        list,
        close: () => {
          for (const each of list) each.close();
        },
      };
    },
  };
}
