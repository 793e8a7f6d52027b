/** Public entry of the plugin runtime. */

export { rewriteModule as inspectModule } from './binary/rewrite.ts';
export { isCpuExceeded } from './failures.ts';
export { ABI_MODULE, HOST_FUNCTIONS } from './host/registry.ts';
export * from './plugin.ts';
export { createPluginRuntime } from './runtime.ts';
