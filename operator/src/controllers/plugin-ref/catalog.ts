/** The plugins that come with gw, and the reader of packages: both the gateway's. */
import { builtinPlugins, loadBuiltinPlugin, type ProjectPlugin, readPluginPackage } from '@gw/gateway/compiler';
import type { PluginCatalog } from './plugin-package.ts';

const loaded = new Map<string, ProjectPlugin>();

/** Built-in plugins are read once: they come with the program, and do not change under it. */
export const catalog: PluginCatalog = {
  async builtin(name) {
    const known = loaded.get(name);
    if (known) return known;
    if (!builtinPlugins().includes(name)) return undefined;
    const plugin = loadBuiltinPlugin(name);
    loaded.set(name, plugin);
    return plugin;
  },
  read: readPluginPackage,
};
