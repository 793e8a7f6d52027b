/** Checks whether a gateway would load a plugin, without a gateway around it: the first check of a registry. */
import { FEATURES } from '../../features/features.ts';
import { type Marks, marksOf } from '../artifact/config-marks.ts';
import { type ConfigValidator, configValidator } from '../compiler/plugins/config-schema.ts';
import { loadOnlyRuntime } from '../compiler/plugins/load-only-runtime.ts';
import { artifactPlugin } from '../compiler/plugins/plugins.ts';
import type { PluginManifest, ProjectPlugin } from '../compiler/project/project.ts';
import { messageOf } from '../text/message-of.ts';

export { type Bodies, type Inspected, inspectModule } from '../compiler/plugins/wasm-module.ts';

export interface PackageFault {
  readonly file: 'config-schema.json' | 'module';
  /** Why a gateway, or the compiler, would not take it. */
  readonly message: string;
}

/** Returns the package's fault, or null. It runs the module's initialisers, within a gateway's limits: use a thread. */
export async function faultOfPackage(
  manifest: PluginManifest,
  { wasm, configSchema }: Pick<ProjectPlugin, 'wasm' | 'configSchema'>,
): Promise<PackageFault | null> {
  let marks: Marks;
  let validate: ConfigValidator = (config) => ({ config, errors: [] });
  try {
    marks = marksOf(configSchema);
    if (configSchema) validate = configValidator(configSchema);
  } catch (error) {
    return { file: 'config-schema.json', message: `it is not a usable JSON Schema: ${messageOf(error).slice(0, 500)}` };
  }
  const { runtime, close } = await loadOnlyRuntime(FEATURES, [{ wasm, declared: manifest.host_functions }], []);
  try {
    const { name } = manifest;
    await runtime.load(artifactPlugin({ name, manifest, wasm, marks, validate, config: {} }), wasm);
    return null;
  } catch (error) {
    return { file: 'module', message: messageOf(error).slice(0, 1_000) };
  } finally {
    close();
  }
}
