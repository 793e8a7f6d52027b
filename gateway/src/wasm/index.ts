/** Public entry of the plugin runtime. */

export { PluginLoadError } from './binary/plugin-load-error.ts';
export { rewriteModule as inspectModule } from './binary/rewrite.ts';
export { isCpuExceeded } from './failures.ts';
export { ABI_MODULE } from './host-functions.ts';
export * from './plugin.ts';
export { createPluginRuntime } from './runtime.ts';
