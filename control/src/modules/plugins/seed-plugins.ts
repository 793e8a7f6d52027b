/** Registers all plugins of a folder (`gw-control seed-plugins`; docs/reference/cli.md#gw-control-server). */
import { join } from 'node:path';
import { PluginPackageError } from '@gw/gateway/compiler';
import { SYSTEM } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import type { PluginChecks } from './plugin-checks.ts';
import { pluginFolders, readPluginFolder } from './plugin-folder.ts';
import { type CheckedPackage, type Registration, registerPackage } from './register-package.ts';

export type Seeded = { readonly folder: string } & (
  | { readonly outcome: 'refused'; readonly why: string }
  | { readonly outcome: Registration['outcome']; readonly plugin: CheckedPackage; readonly sha256: string }
);

/**
 * Registers plugins one after the other, so that a refused one does not delay others. `force`: replaces existing
 * plugins with other content. Rejects if the folder or the database cannot be read.
 */
export async function* seedPlugins(
  context: Pick<Context, 'db' | 'blobs'>,
  checks: PluginChecks,
  plugins: string,
  { force }: { readonly force: boolean },
): AsyncIterable<Seeded> {
  for (const name of await pluginFolders(plugins)) {
    const folder = join(plugins, name);
    try {
      const plugin = await readPluginFolder(folder);
      const fault = await checks.faultOf(plugin);
      if (fault) throw new PluginPackageError(fault.message);
      const options = { builtin: false, replace: force ? 'all' : 'nothing' } as const;
      const { outcome, row } = await registerPackage(context, SYSTEM, plugin, options);
      yield { folder, outcome, plugin, sha256: row.sha256 };
    } catch (error) {
      if (!(error instanceof PluginPackageError)) throw error;
      yield { folder, outcome: 'refused', why: error.message };
    }
  }
}
