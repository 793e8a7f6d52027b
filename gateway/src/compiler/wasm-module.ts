/** What a bare WebAssembly module says of itself, where no plugin.toml does (E1071). */
import { messageOf } from '../message-of.ts';
import type { PluginManifest } from './project.ts';

export type Inspected = { readonly manifest: Omit<PluginManifest, 'name'> } | { readonly why: string };

/** Type from the exports, capabilities from the imports. Whether the gateway has what it imports is for the loader to say. */
export function inspectModule(wasm: Uint8Array): Inspected {
  if (Buffer.from(wasm.buffer, wasm.byteOffset, Math.min(4, wasm.byteLength)).toString('latin1') !== '\0asm') {
    return { why: 'it is not a WebAssembly module' };
  }
  let module: WebAssembly.Module;
  try {
    module = new WebAssembly.Module(new Uint8Array(wasm));
  } catch (error) {
    return { why: `it is not a valid WebAssembly module: ${messageOf(error)}` };
  }
  const exports = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  const imports = WebAssembly.Module.imports(module).map(({ name }) => name);
  const buffers = (part: string) => (imports.includes(`${part}_body_length`) ? 'buffer' : 'none');
  const streams = (part: string) => exports.has(`on_${part}_chunk`);
  return {
    manifest: {
      version: '0.0.0',
      type: exports.has('dispatch') ? 'dispatcher' : 'middleware',
      host_functions: [...new Set(imports.filter((name) => name.startsWith('host_')))].sort(),
      request_body: streams('request') ? 'stream' : buffers('request'),
      response_body: streams('response') ? 'stream' : buffers('response'),
    },
  };
}
