/** A plugin's folder as its developers' commands read it (docs/reference/plugins.md#packages). */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PluginManifest } from '../../compiler/project/project.ts';
import { PluginPackageError, readPluginManifest, wasmFileOf } from '../../plugins/package.ts';
import { messageOf } from '../../text/message-of.ts';

/** Rejects with PluginPackageError if the folder holds no plugin. */
export async function manifestOf(folder: string): Promise<Buffer> {
  return readFile(join(folder, 'plugin.toml')).catch((error: unknown) => {
    throw new PluginPackageError(`${folder} holds no plugin: ${messageOf(error)}`);
  });
}

export async function readManifestOf(folder: string): Promise<PluginManifest> {
  return readPluginManifest((await manifestOf(folder)).toString());
}

/** Path of the plugin's module. */
export async function modulePathOf(folder: string): Promise<string> {
  return join(folder, wasmFileOf((await manifestOf(folder)).toString()));
}

/** Loads it as a gateway would: rejects if the module, its imports or exports are not valid. */
export async function checkLoads(folder: string): Promise<void> {
  await checkBuilt(folder);
  const { testPlugin } = await import('../../../sdk/testing/index.ts');
  (await testPlugin(folder)).close();
}

/** Rejects with PluginPackageError if the module is missing. */
export async function checkBuilt(folder: string): Promise<void> {
  const path = await modulePathOf(folder);
  if (!existsSync(path)) throw new PluginPackageError(`${path} is missing: run gw plugin build`);
}
