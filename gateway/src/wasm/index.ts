/** Public entry of the plugin runtime. */

export { PluginLoadError } from './binary/plugin-load-error.ts';
export { checkModule } from './binary/rewrite.ts';
export type { PluginServices } from './call/capability.ts';
export { isCpuExceeded } from './call/failures.ts';
export * from './call/plugin.ts';
export { functionsOf, type PluginFunctions } from './functions-of.ts';
export { createPluginRuntime } from './runtime.ts';
