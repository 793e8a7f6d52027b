/** Public entry of the plugin runtime. */

export { PluginLoadError } from './binary/plugin-load-error.ts';
export { checkModule, rewriteModule as inspectModule } from './binary/rewrite.ts';
export { isCpuExceeded } from './call/failures.ts';
export * from './call/plugin.ts';
export { ABI_MODULE } from './host/host-functions.ts';
export { createPluginRuntime } from './runtime.ts';
