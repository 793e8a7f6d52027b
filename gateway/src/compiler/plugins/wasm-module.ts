/** Inspects a bare WebAssembly module without a plugin.toml (E1071). */
import { messageOf } from '../../text/message-of.ts';
import { checkModule, PluginLoadError } from '../../wasm/index.ts';
import type { PluginManifest } from '../project/project.ts';

export type Bodies = Pick<PluginManifest, 'request_body' | 'response_body'>;

export type Inspected =
  | {
      readonly manifest: Omit<PluginManifest, 'name'>;
      /** Which bodies it would have to declare, by its imports and exports. */
      readonly bodies: Bodies;
    }
  | { readonly why: string };

/**
 * Tells the type from the exports. A module gets only declared capabilities
 * (docs/decisions.md#undeclared-gets-nothing), and declares none here.
 */
export function inspectModule(wasm: Uint8Array): Inspected {
  if (Buffer.from(wasm.buffer, wasm.byteOffset, Math.min(4, wasm.byteLength)).toString('latin1') !== '\0asm') {
    return { why: 'it is not a WebAssembly module' };
  }
  let module: WebAssembly.Module;
  try {
    const bytes = new Uint8Array(wasm);
    checkModule(bytes);
    module = new WebAssembly.Module(bytes);
  } catch (error) {
    if (error instanceof PluginLoadError) return { why: error.message };
    return { why: `it is not a valid WebAssembly module: ${messageOf(error)}` };
  }
  const exports = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  const imports = new Set(WebAssembly.Module.imports(module).map(({ name }) => name));
  const needed = (part: string) => {
    if (exports.has(`on_${part}_chunk`)) return 'stream';
    return imports.has(`${part}_body_length`) ? 'buffer' : 'none';
  };
  return {
    bodies: { request_body: needed('request'), response_body: needed('response') },
    manifest: {
      version: '0.0.0',
      type: exports.has('dispatch') ? 'dispatcher' : 'middleware',
      host_functions: [],
      request_body: 'none',
      response_body: 'none',
    },
  };
}
