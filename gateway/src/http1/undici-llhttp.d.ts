/** The bytes of undici's WebAssembly build of llhttp. undici declares no type for the file. */
declare module 'undici/lib/llhttp/llhttp_simd-wasm.js' {
  const wasm: Buffer<ArrayBuffer>;
  export default wasm;
}
