/** The plugins that come with gw are in the registry from the first start on. */
import { builtinPlugins, loadBuiltinPlugin, PluginPackageError } from '@gw/gateway/compiler';
import { SYSTEM } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import { type CheckedPackage, registerPackage } from './register-package.ts';

/**
 * Registers missing plugins, and replaces those that a later gw has changed; quick if nothing is to be done, and safe
 * if several replicas start at once. A plugin that somebody else registered under such a name and version stays.
 */
export async function seedBuiltinPlugins(context: Pick<Context, 'db' | 'blobs' | 'log'>): Promise<void> {
  const { log } = context;
  const changed: string[] = [];
  for (const name of builtinPlugins()) {
    const plugin = load(name, context);
    if (!plugin) continue;
    const { outcome } = await registerPackage(context, SYSTEM, plugin, { builtin: true, replace: 'builtin' });
    const { version } = plugin.manifest;
    if (outcome === 'exists') log.warn({ plugin: name, version }, 'a built-in plugin is replaced by another one');
    else if (outcome !== 'unchanged') changed.push(`${name}@${version}`);
  }
  if (changed.length > 0) log.info({ plugins: changed }, 'built-in plugins registered');
}

/** Returns null if the plugin was not built: the others are still registered. */
function load(name: string, { log }: Pick<Context, 'log'>): CheckedPackage | null {
  try {
    const { manifest, ...plugin } = loadBuiltinPlugin(name);
    if (manifest) return { ...plugin, manifest };
  } catch (error) {
    if (!(error instanceof PluginPackageError)) throw error;
    log.warn({ plugin: name, reason: error.message }, 'a built-in plugin is not usable');
  }
  return null;
}

/** Reports whether this gw includes it: its next start would register it again. */
export function comesWithGw(name: string, version: string): boolean {
  return builtinPlugins().includes(name) && loadBuiltinPlugin(name).manifest?.version === version;
}
