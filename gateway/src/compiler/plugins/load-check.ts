/**
 * Decides whether `gw serve` would load the plugins of a project: each module is loaded, and each config bound to it,
 * within the gateway's limits, and serving's errors are E1042 (docs/decisions.md#compiling-loads-modules). The check
 * stays within the project.
 */

import { hash } from 'node:crypto';
import type { Json } from '../../artifact/format.ts';
import { BoundedMap } from '../../bounded-map.ts';
import type { Features } from '../../capability/features.ts';
import type { Diagnostics, Place } from '../../spec/diagnostic.ts';
import { messageOf } from '../../text/message-of.ts';
import { isCpuExceeded, type LoadedModule, type PluginRuntime } from '../../wasm/index.ts';
import { manifestPlace } from '../project/manifest-place.ts';
import type { Project } from '../project/project.ts';
import type { DataEntry } from './config-data.ts';
import { isReference } from './config-schema.ts';
import { loadOnlyRuntime } from './load-only-runtime.ts';
import { artifactPlugin, type PluginLoad } from './plugins.ts';

/** Plugins that this process has loaded before: long-lived servers compile the same ones again and again. By digest. */
const known = new BoundedMap<true>(10_000);

interface LoadCheckDeps {
  readonly project: Project;
  readonly diagnostics: Diagnostics;
  readonly features: Features;
}

/** Reports the first fault of each plugin. */
export async function checkLoads(
  { loads: all, data }: { readonly loads: readonly PluginLoad[]; readonly data: readonly DataEntry[] },
  { project, diagnostics, features }: LoadCheckDeps,
): Promise<void> {
  const loads = all.filter((load) => !known.use(digestOf(load)));
  if (loads.length === 0) return;
  const plugins = loads.map(({ plugin: { wasm, manifest } }) => ({ wasm, declared: manifest.host_functions }));
  const { runtime, close } = await loadOnlyRuntime(features, plugins, data);
  try {
    for (const load of loads) {
      const fault = await faultOf(load, runtime);
      if (fault === null) known.set(digestOf(load), true, 1);
      else {
        const place = fault.place ?? manifestPlace(project, ['plugins', load.plugin.name]);
        diagnostics.add('E1042', place, fault.message, fault.hint);
      }
    }
  } finally {
    close();
  }
}

function digestOf({ plugin, configs }: PluginLoad): string {
  return hash('sha256', JSON.stringify([artifactPlugin(plugin), configs.map(({ config }) => config)]), 'base64');
}

interface Fault {
  readonly place: Place | null;
  readonly message: string;
  readonly hint?: string;
}

async function faultOf({ plugin, configs }: PluginLoad, runtime: PluginRuntime): Promise<Fault | null> {
  let module: LoadedModule;
  try {
    module = await runtime.load(artifactPlugin(plugin), plugin.wasm);
  } catch (error) {
    return { place: null, message: messageOf(error) };
  }
  for (const { config, place } of configs) {
    try {
      (await module.bind(config)).close();
    } catch (error) {
      // The value behind a reference is unknown here, and a plugin may well refuse its name.
      if (holdsReference(config) && !isCpuExceeded(error)) continue;
      return { place, message: messageOf(error), hint: 'Correct the config, or the `init` of the plugin.' };
    }
  }
  return null;
}

function holdsReference(value: Json): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(holdsReference);
  return isReference(value);
}
